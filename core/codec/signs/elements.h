// The arithmetic of the sign codecs for one value and one block. It is the specification: kernels
// must produce the same bits. The functions are pure.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/base/host_device.h"

namespace tributary::signs {

// The decoded magnitudes of a block's positive and negative values. Neither has a sign bit.
struct Worth {
  float positive;
  float negative;
};

// 1 for a set sign bit, also that of -0 and NaN; otherwise 0.
TRIBUTARY_HD inline std::uint32_t sign_of(float x) { return std::bit_cast<std::uint32_t>(x) >> 31; }

TRIBUTARY_HD inline float mean(double sum, std::size_t count) {
  return count == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(count));
}

// The rules of EF-signSGD and OneBit for a block of `count` values, from the sums of its positive
// and negative magnitudes.
TRIBUTARY_HD inline Worth mean_magnitude(double positive, double negative, std::size_t count) {
  const float both = mean(positive + negative, count);
  return {both, both};
}
TRIBUTARY_HD inline Worth means_by_sign(double positive, double negative, std::size_t negatives,
                                        std::size_t count) {
  return {mean(positive, count - negatives), mean(negative, negatives)};
}

// The step of a vote: that of the majority, and 0 for a tie.
TRIBUTARY_HD inline float step_of_vote(std::uint32_t minus, std::uint32_t voters, float step) {
  const std::uint32_t plus = voters - minus;
  return plus > minus ? step : plus < minus ? -step : 0.0f;
}

}  // namespace tributary::signs
