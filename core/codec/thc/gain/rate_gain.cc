#include "core/codec/thc/gain/rate_gain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/codec/thc/blocks/blocks.h"
#include "core/codec/thc/elements.h"
#include "core/codec/thc/kernels.h"
#include "core/codec/thc/options.h"
#include "core/codec/thc/rate/allocate.h"

namespace tributary::thc {
namespace {

constexpr double kUsualDownWeight = 1;

struct BlockNorms {
  std::vector<float> norms;
  std::vector<std::uint32_t> sizes;
};

// A square that overflows gives the largest norm, which has the same place in the order.
float norm_of_block(const Kernels& k, const float* x, std::size_t size) {
  float sum;
  k.sum_squares(x, size, 1.0f, &sum);
  return std::min(std::sqrt(sum / static_cast<float>(size)), std::numeric_limits<float>::max());
}

BlockNorms norms_of(const Execution& execution, std::span<const float> values) {
  const Kernels& k = kernels(execution.backend);
  const BlockLayout layout(values.size(), kUsualRatedBlock);
  BlockNorms all = {.norms = std::vector<float>(layout.blocks()),
                    .sizes = std::vector<std::uint32_t>(layout.blocks())};
  layout.for_each_chunk(execution, [&](const auto& for_each_block) {
    for_each_block([&](const Block& block) {
      const float* x = values.data() + block.begin;
      FloatVector copy;
      if (block.begin + block.size > values.size()) {
        copy.assign(block.size, 0.0f);
        std::ranges::copy(values.subspan(block.begin), copy.begin());
        x = copy.data();
      }
      all.norms[block.index] = norm_of_block(k, x, block.size);
      all.sizes[block.index] = static_cast<std::uint32_t>(block.size);
    });
  });
  return all;
}

}  // namespace

Result<std::vector<double>> gains_of_rates(const Execution& execution,
                                           std::span<const float> values, std::uint32_t agents,
                                           std::span<const double> rates) {
  TRIBUTARY_ASSIGN(const std::vector<Width> widths, widths_for(agents, kUsualDownWeight));
  const BlockNorms blocks = norms_of(execution, values);
  const auto energy = [&](std::size_t block) {
    const auto norm = static_cast<double>(blocks.norms[block]);
    return norm * norm * blocks.sizes[block];
  };
  double all = 0;
  for (std::size_t i = 0; i < blocks.norms.size(); ++i) all += energy(i);
  std::vector<double> gains;
  for (const double rate : rates) {
    const std::vector<std::uint8_t> chosen =
        allocate(blocks.norms, blocks.sizes, widths, kUsualDownWeight, rate, kRmsMin);
    double lost = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) lost += energy(i) * widths[chosen[i]].error;
    const double before = gains.empty() ? 0 : gains.back();
    // Sums of rounded numbers must not let the gain fall by a last digit.
    gains.push_back(all > 0 ? std::clamp(1 - lost / all, before, 1.0) : 1);
  }
  return gains;
}

std::string spec_of_rate(double rate) { return fmt::format("thc:rate={}", rate); }

}  // namespace tributary::thc
