// The loops of THC, in a scalar version (the specification) and a SIMD version (Highway, at the
// best width of the machine). Both produce the same bits; a test compares them.
//
// Assumptions: arrays are aligned to their element type. Inputs and outputs do not overlap except
// where stated. A block is a power of two of at least 64, and every other n is a multiple of 64.
// The functions have no state; threads may call them for different memory.
//
// H is the Hadamard matrix with entries of 1 and -1, of the size of a block. D is the diagonal
// matrix of the random signs. T[level] is the table's grid place of a level, and g its granularity.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "core/codec/codec.h"
#include "core/codec/thc/elements.h"
#include "core/codec/thc/levels.h"

namespace tributary::thc {

struct Kernels {
  // Sets *sum = Σ (x · scale)², in the order that elements.h states. Returns the largest magnitude
  // of x as bits; kInfinityBits or more means that a value is Inf or NaN.
  std::uint32_t (*sum_squares)(const float* x, std::size_t n, float scale, float* sum);

  // Writes words first .. first + n - 1 of a stream. n is arbitrary.
  void (*draw_words)(StreamKey key, std::uint32_t first, std::size_t n, std::uint32_t* words);
  // Sets y = H (D x factor).
  void (*spread)(const float* x, std::size_t block, const std::uint32_t* signs, float factor,
                 float* y);
  // Sets x = D (H y) factor in place, and returns the largest magnitude of x as bits.
  std::uint32_t (*collect)(float* y, std::size_t block, const std::uint32_t* signs, float factor);

  // Sets y = (x + offset) factor, and returns the largest magnitude of y as bits. y may be x.
  std::uint32_t (*affine)(const float* x, std::size_t n, float offset, float factor, float* y);
  // Sets *low to the largest of 0 and -x, and *high to the largest of 0 and x. Returns the largest
  // magnitude of x as bits; if that is kInfinityBits or more, *low and *high are undefined.
  std::uint32_t (*extent)(const float* x, std::size_t n, float* low, float* high);

  // Adds g/2 to y, clamps it and rounds it to the table's levels. y[0] is element `first` of the
  // bucket, a multiple of 64.
  void (*quantize)(const float* y, std::size_t n, const Levels& levels, const Rounding& rounding,
                   std::uint32_t first, std::uint8_t* level);
  // pack_fields() and unpack_fields() (packing.h), which allow packing in place.
  void (*pack8)(const std::uint8_t* fields, std::size_t n, unsigned bits, std::uint8_t* out);
  void (*unpack8)(const std::uint8_t* in, std::size_t n, unsigned bits, std::uint8_t* fields);
  void (*unpack16)(const std::uint8_t* in, std::size_t n, unsigned bits, std::uint16_t* fields);
  void (*unpack32)(const std::uint8_t* in, std::size_t n, unsigned bits, std::uint32_t* fields);

  // Sets sum += T[level]. The caller guarantees that the sum does not overflow.
  void (*look_up_add8)(const std::uint8_t* level, std::size_t n, const Levels& levels,
                       std::uint8_t* sum);
  void (*look_up_add16)(const std::uint8_t* level, std::size_t n, const Levels& levels,
                        std::uint16_t* sum);
  void (*look_up_add32)(const std::uint8_t* level, std::size_t n, const Levels& levels,
                        std::uint32_t* sum);

  // Sets y = 2 T[level] - g.
  void (*centre_levels)(const std::uint8_t* level, std::size_t n, const Levels& levels, float* y);
  // Sets y = 2 sum - centre, and returns the largest sum. Values of y are undefined for sums of
  // 2^30 or more.
  std::uint32_t (*centre8)(const std::uint8_t* sum, std::size_t n, std::int32_t centre, float* y);
  std::uint32_t (*centre16)(const std::uint16_t* sum, std::size_t n, std::int32_t centre, float* y);
  std::uint32_t (*centre32)(const std::uint32_t* sum, std::size_t n, std::int32_t centre, float* y);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::thc
