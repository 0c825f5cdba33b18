// Sums in the sixteen lanes of the scalar specification (core/codec/simd/ordered_sum.h), with one
// thread per lane. Only .cu files include it. All threads of a warp must call the functions.
#pragma once

#include <bit>
#include <cstdint>

#include "core/codec/cuda/block.h"

namespace tributary::TRIBUTARY_DEVICE {

// Value i of a sum belongs to lane i % kSumLanes.
inline constexpr unsigned kSumLanes = 16;

// The value of the thread that is `lanes` threads above. The last ones get their own.
inline __device__ double from_above(double value, unsigned lanes) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t low = __shfl_down_sync(kAllLanes, static_cast<std::uint32_t>(bits), lanes);
  const std::uint32_t high =
      __shfl_down_sync(kAllLanes, static_cast<std::uint32_t>(bits >> 32), lanes);
  return std::bit_cast<double>(std::uint64_t{high} << 32 | low);
}

// Returns the sum of kSumLanes neighbouring threads to the first of them, added in pairs.
inline __device__ double add_lanes(double lane) {
  for (unsigned width = kSumLanes / 2; width > 0; width /= 2) lane += from_above(lane, width);
  return lane;
}

}  // namespace tributary::TRIBUTARY_DEVICE
