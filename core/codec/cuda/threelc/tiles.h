// Parts of the kernels of both directions: the bytes of a tile, four at a time. Only .cu files
// include it.
#pragma once

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/threelc/threelc.h"
#include "core/codec/threelc/layout.h"

namespace tributary::TRIBUTARY_DEVICE {

inline constexpr std::uint32_t kThreadBytes = 16;  // packed bytes of a tile per thread
inline constexpr std::uint32_t kTileBytes = kThreads * kThreadBytes;
inline constexpr std::uint32_t kChunkBytes = threelc::kChunkBytes;
static_assert(kChunkBytes % kTileBytes == 0);
inline constexpr std::uint32_t kZeroWord = threelc::kZeroByte * 0x01010101u;

// The base of a packing's digits.
template <class P>
inline constexpr std::uint32_t kBaseOf = P::kWeights[P::kDigits - 2];

// The values of four neighbouring bytes in one stripe that exist: none in the padding.
inline __device__ std::uint32_t values_in(std::uint32_t bytes, std::uint32_t count,
                                          std::uint32_t index) {
  return index < count ? min(bytes, count - index) : 0;
}

inline __device__ std::uint32_t byte_of(std::uint32_t word, unsigned i) {
  return word >> (8 * i) & 0xff;
}

// Writes the first `bytes` of four.
inline __device__ void store_up_to_four(std::uint8_t* out, std::uint32_t bytes,
                                        std::uint32_t word) {
  if (bytes == 4 && reinterpret_cast<std::uintptr_t>(out) % 4 == 0) {
    *reinterpret_cast<std::uint32_t*>(out) = word;
    return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    if (i < bytes) out[i] = static_cast<std::uint8_t>(byte_of(word, i));
  }
}

}  // namespace tributary::TRIBUTARY_DEVICE
