#include "core/codec/thc/rate/allocate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>

namespace tributary::thc {
namespace {

// A block's norm, and its index. The bits of a positive float ascend with its value.
struct Entry {
  std::uint32_t key;
  std::uint32_t block;
};

// Sorts by ascending key, a digit of 11 bits at a time. Entries with equal keys keep their order.
void sort_by_key(std::vector<Entry>& entries) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kBins = std::size_t{1} << kDigitBits;
  std::vector<Entry> moved(entries.size());
  for (unsigned shift = 0; shift < 32; shift += kDigitBits) {
    const auto digit = [shift](const Entry& entry) { return entry.key >> shift & (kBins - 1); };
    std::array<std::uint32_t, kBins> ends = {};
    for (const Entry& entry : entries) ++ends[digit(entry)];
    // Norms of one magnitude have the same upper bits.
    if (!entries.empty() && ends[digit(entries.front())] == entries.size()) continue;
    std::uint32_t begin = 0;
    for (std::uint32_t& end : ends) begin = (end += begin);
    for (std::size_t i = entries.size(); i > 0; --i) {
      moved[--ends[digit(entries[i - 1])]] = entries[i - 1];
    }
    entries.swap(moved);
  }
}

// Blocks that can be sent, by falling norm and then by index, as the walk takes them.
class Order {
 public:
  Order(std::span<const float> norms, std::span<const std::uint32_t> sizes, float norm_min) {
    entries_.reserve(norms.size());
    for (std::size_t i = 0; i < norms.size(); ++i) {
      if (!(norms[i] >= norm_min)) continue;
      entries_.push_back({~std::bit_cast<std::uint32_t>(norms[i]), static_cast<std::uint32_t>(i)});
    }
    sort_by_key(entries_);
    values_before_.reserve(entries_.size() + 1);
    std::uint64_t values = 0;
    for (const Entry& entry : entries_) {
      values_before_.push_back(values);
      values += sizes[entry.block];
    }
    values_before_.push_back(values);
  }

  std::size_t blocks() const { return entries_.size(); }
  std::uint32_t block(std::size_t place) const { return entries_[place].block; }
  double norm(std::size_t place) const {
    return static_cast<double>(std::bit_cast<float>(~entries_[place].key));
  }
  // Values in the first `places` blocks.
  std::uint64_t values_before(std::size_t places) const { return values_before_[places]; }

 private:
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> values_before_;
};

// One step from a width to the next, for all blocks. Its gains fall in the order of the blocks.
struct Step {
  double factor;         // gain of a block with norm 1
  std::uint64_t bits;    // added to a level
  std::size_t next = 0;  // the first block, by place, that has not taken it

  // Gain of the block at a place; -1 after the last one.
  double gain(const Order& order, std::size_t place) const {
    if (place == order.blocks()) return -1;
    const double norm = order.norm(place);
    return norm * norm * factor;
  }
  // The number of blocks whose gain is at least `least`, if it is known to be between two numbers.
  std::size_t reaching(const Order& order, double least, std::size_t low, std::size_t high) const {
    // Blocks that differ little have a long search with few results.
    if (low < high && gain(order, high - 1) >= least) return high;
    if (low < high && gain(order, low) < least) return low;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (gain(order, middle) >= least) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

// Takes all steps whose gain is at least the lowest one with which they do not exceed the budget.
// The gains in between have an order, that of their bits, and are searched by halves, until no gain
// is left in between. Returns the bits of the steps.
std::uint64_t take_most(std::span<Step> steps, const Order& order, std::uint64_t budget) {
  std::uint64_t low = 0;
  // Above infinity are NaNs, which no gain reaches.
  std::uint64_t high = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()) + 1;
  // Blocks that reach `low` and, in step.next, `high`.
  std::vector<std::size_t> reach_low(steps.size(), order.blocks());
  std::vector<std::size_t> reach(steps.size());
  std::uint64_t used = 0;
  const auto searched = [&] { return std::ranges::equal(steps, reach_low, {}, &Step::next); };
  while (low < high && !searched()) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      reach[i] =
          steps[i].reaching(order, std::bit_cast<double>(middle), steps[i].next, reach_low[i]);
      bits += steps[i].bits * order.values_before(reach[i]);
    }
    if (bits <= budget) {
      high = middle;
      used = bits;
      for (std::size_t i = 0; i < steps.size(); ++i) steps[i].next = reach[i];
    } else {
      low = middle + 1;
      reach_low.swap(reach);
    }
  }
  return used;
}

// Takes one step after the other, until the next one would exceed the budget.
void walk(std::span<Step> steps, const Order& order, std::span<const std::uint32_t> sizes,
          std::uint64_t budget, std::uint64_t used) {
  while (true) {
    // The first of equal maxima, so that a block passes its steps in their order.
    Step* best = nullptr;
    double most = -1;
    for (Step& step : steps) {
      const double gain = step.gain(order, step.next);
      if (gain <= most) continue;
      best = &step;
      most = gain;
    }
    if (best == nullptr) return;
    const std::uint64_t bits = best->bits * sizes[order.block(best->next)];
    if (used > 0 && used + bits > budget) return;
    used += bits;
    ++best->next;
  }
}

}  // namespace

std::vector<std::uint8_t> allocate(std::span<const float> norms,
                                   std::span<const std::uint32_t> sizes,
                                   std::span<const Width> widths, double down_weight, double rate,
                                   float norm_min) {
  assert(norms.size() == sizes.size() && !widths.empty() && widths.size() < 256);
  const Order order(norms, sizes, norm_min);
  std::vector<Step> steps;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const double cost = widths[i].cost(down_weight) - widths[i - 1].cost(down_weight);
    steps.push_back({.factor = (widths[i - 1].error - widths[i].error) / cost,
                     .bits = widths[i].bits - widths[i - 1].bits});
  }
  std::uint64_t values = 0;
  for (const std::uint32_t size : sizes) values += size;
  const auto budget = static_cast<std::uint64_t>(rate * static_cast<double>(values));
  walk(steps, order, sizes, budget, take_most(steps, order, budget));
  std::vector<std::uint8_t> chosen(norms.size(), 0);
  // A block takes its steps in order, so every step has been taken by no more blocks than the one
  // before it.
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t begin = i + 1 < steps.size() ? steps[i + 1].next : 0;
    for (std::size_t place = begin; place < steps[i].next; ++place) {
      chosen[order.block(place)] = static_cast<std::uint8_t>(i + 1);
    }
  }
  return chosen;
}

}  // namespace tributary::thc
