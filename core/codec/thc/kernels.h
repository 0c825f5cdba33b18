// The loops of this family, once as the plain specification and once in SIMD (Highway, at the best
// width that the machine has). Both give the same bits; a test holds them together.
//
// Assumptions: arrays are aligned to their elements; input and output do not overlap unless it is
// said; a block is a power of two from 64 on, and every other n is a multiple of 64.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "core/codec/codec.h"
#include "core/codec/thc/elements.h"
#include "core/codec/thc/levels.h"

namespace tributary::thc {

struct Kernels {
  // *sum = Σ (x · scale)², in the order that elements.h states. Returns the largest magnitude of x
  // as bits: kInfinityBits or more says that a value was Inf or NaN.
  std::uint32_t (*sum_squares)(const float* x, std::size_t n, float scale, float* sum);

  // Words first .. first + n - 1 of a stream. Any n.
  void (*draw_words)(StreamKey key, std::uint32_t first, std::size_t n, std::uint32_t* words);
  // y = H (D x factor)
  void (*spread)(const float* x, std::size_t block, const std::uint32_t* signs, float factor,
                 float* y);
  // x = D (H y) factor, in place; returns the largest magnitude as bits.
  std::uint32_t (*collect)(float* y, std::size_t block, const std::uint32_t* signs, float factor);

  // y + g/2, clamped and rounded to the table's levels; its first element is
  // number `first` of the bucket, a multiple of 64.
  void (*quantize)(const float* y, std::size_t n, const Levels& levels, const Rounding& rounding,
                   std::uint32_t first, std::uint8_t* level);
  void (*pack_nibbles)(const std::uint8_t* fields, std::size_t n, std::uint8_t* out);
  void (*unpack_nibbles)(const std::uint8_t* in, std::size_t n, std::uint8_t* fields);

  // sum += T[level]; the caller has made sure that it fits.
  void (*look_up_add8)(const std::uint8_t* level, std::size_t n, const Levels& levels,
                       std::uint8_t* sum);
  void (*look_up_add16)(const std::uint8_t* level, std::size_t n, const Levels& levels,
                        std::uint16_t* sum);
  void (*look_up_add32)(const std::uint8_t* level, std::size_t n, const Levels& levels,
                        std::uint32_t* sum);

  // y = 2 sum - centre
  void (*centre8)(const std::uint8_t* sum, std::size_t n, std::int32_t centre, float* y);
  void (*centre16)(const std::uint16_t* sum, std::size_t n, std::int32_t centre, float* y);
  void (*centre32)(const std::uint32_t* sum, std::size_t n, std::int32_t centre, float* y);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::thc
