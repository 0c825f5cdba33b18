#include "core/codec/thc/rate/allocate.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tributary::thc {
namespace {

// Blocks that can be sent, by falling norm and then by index. The bits of a positive float ascend
// with its value.
std::vector<std::uint32_t> by_norm(std::span<const float> norms, float norm_min) {
  std::vector<std::uint64_t> keys;
  keys.reserve(norms.size());
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (!(norms[i] >= norm_min)) continue;
    keys.push_back(std::uint64_t{~std::bit_cast<std::uint32_t>(norms[i])} << 32 | i);
  }
  std::ranges::sort(keys);
  std::vector<std::uint32_t> blocks;
  blocks.reserve(keys.size());
  for (const std::uint64_t key : keys) blocks.push_back(static_cast<std::uint32_t>(key));
  return blocks;
}

// One step from a width to the next, for all blocks. Their gains fall in the order of their norms.
struct Step {
  double factor;  // gain of a block with norm 1
  unsigned bits;  // added to a level
  std::size_t next = 0;
  double gain = 0;  // of block `next`; -1 after the last one
};

}  // namespace

std::vector<std::uint8_t> allocate(std::span<const float> norms,
                                   std::span<const std::uint32_t> sizes,
                                   std::span<const Width> widths, double down_weight, double rate,
                                   float norm_min) {
  assert(norms.size() == sizes.size() && !widths.empty() && widths.size() < 256);
  const std::vector<std::uint32_t> order = by_norm(norms, norm_min);
  const auto gain_of = [&](const Step& step) {
    if (step.next == order.size()) return -1.0;
    const double norm = norms[order[step.next]];
    return norm * norm * step.factor;
  };
  std::vector<Step> steps;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const double cost = widths[i].cost(down_weight) - widths[i - 1].cost(down_weight);
    steps.push_back({.factor = (widths[i - 1].error - widths[i].error) / cost,
                     .bits = widths[i].bits - widths[i - 1].bits});
    steps.back().gain = gain_of(steps.back());
  }
  std::uint64_t values = 0;
  for (const std::uint32_t size : sizes) values += size;
  const auto budget = static_cast<std::uint64_t>(rate * static_cast<double>(values));
  std::vector<std::uint8_t> chosen(norms.size(), 0);
  std::uint64_t used = 0;
  while (true) {
    // The first of equal maxima, so that a block passes its steps in their order.
    const auto best = std::ranges::max_element(steps, {}, &Step::gain);
    if (best == steps.end() || best->gain < 0) break;
    const std::uint32_t block = order[best->next];
    const std::uint64_t bits = std::uint64_t{best->bits} * sizes[block];
    if (used > 0 && used + bits > budget) break;
    used += bits;
    chosen[block] = static_cast<std::uint8_t>(best - steps.begin() + 1);
    ++best->next;
    best->gain = gain_of(*best);
  }
  return chosen;
}

}  // namespace tributary::thc
