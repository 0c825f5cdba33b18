// The arithmetic of one element for the sparse codecs. It is the specification: SIMD and GPU
// kernels must produce the same bits for each element. The functions are pure. No operation here
// depends on a rounding mode or on fused multiplication.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "core/base/host_device.h"
#include "core/base/random.h"

namespace tributary::sparse {

// Limits x to the finite range of float32, so that an accumulated value cannot become infinite.
TRIBUTARY_HD constexpr float saturated(float x) {
  constexpr float kMax = std::numeric_limits<float>::max();
  const float low = x > -kMax ? x : -kMax;
  return low < kMax ? low : kMax;
}

// A sample of a bucket, with one value from each of `count` equal parts, drawn from the stream
// `key`, and a rank among its magnitudes, counted from the largest. 1 <= rank <= count, or count is
// 0.
struct SampledRank {
  std::uint32_t count;
  std::uint32_t rank;
  StreamKey key;
};

// The index in a bucket of the value that a sample has from a part.
TRIBUTARY_HD constexpr std::uint64_t sampled_index(const SampledRank& sample, std::uint64_t values,
                                                   std::uint32_t part) {
  const std::uint64_t begin = part * values / sample.count;
  const std::uint64_t part_values = (part + std::uint64_t{1}) * values / sample.count - begin;
  return begin + (part_values * random_bits(sample.key, part) >> 32);
}

// DGC's momentum correction: u = m u + x, v = v + u. Values to send are selected from v.
struct Momentum {
  float velocity;     // u
  float accumulated;  // v
};
TRIBUTARY_HD constexpr Momentum corrected(float x, float momentum, Momentum before) {
  const float velocity = saturated(momentum * before.velocity + x);
  return {velocity, saturated(before.accumulated + velocity)};
}

}  // namespace tributary::sparse
