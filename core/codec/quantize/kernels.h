// The loops of this family, once as the plain specification and once in SIMD (Highway, at the best
// width that the machine has). Both give the same bits; a test holds them together.
//
// Assumptions: pointers of float, int16 and int32 are aligned to 4, 2 and 4 bytes at least; input
// and output do not overlap, except that `sum` is both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "core/codec/codec.h"

namespace tributary::quantize {

struct Kernels {
  // The largest magnitude as bits: kInfinityBits or more says that a value was Inf or NaN.
  std::uint32_t (*largest_magnitude)(const float* x, std::size_t n);

  // Encoders to 16 bits return the largest magnitude of the input, as above; decoders the largest
  // 16-bit magnitude they met.
  std::uint32_t (*to_half)(const float* x, std::size_t n, std::uint16_t* out);
  std::uint32_t (*to_bfloat)(const float* x, std::size_t n, std::uint16_t* out);
  std::uint32_t (*from_half)(const std::uint16_t* in, std::size_t n, float* x);
  std::uint32_t (*from_bfloat)(const std::uint16_t* in, std::size_t n, float* x);

  void (*to_nearest_levels)(const float* x, std::size_t n, float levels_per_unit,
                            std::int8_t* levels);
  void (*to_random_levels)(const float* x, std::size_t n, float levels_per_unit, StreamKey key,
                           std::uint32_t first_element, std::int8_t* levels);

  void (*from_levels8)(const std::int8_t* levels, std::size_t n, float step, float* x);
  void (*from_levels16)(const std::int16_t* levels, std::size_t n, float step, float* x);
  void (*from_levels32)(const std::int32_t* levels, std::size_t n, float step, float* x);

  // Integer sums; the caller has made sure that they fit.
  void (*add_levels8_to16)(const std::int8_t* levels, std::size_t n, std::int16_t* sum);
  void (*add_levels8_to32)(const std::int8_t* levels, std::size_t n, std::int32_t* sum);
  void (*add_levels16_to16)(const std::int16_t* levels, std::size_t n, std::int16_t* sum);
  void (*add_levels16_to32)(const std::int16_t* levels, std::size_t n, std::int32_t* sum);
  void (*add_levels32_to32)(const std::int32_t* levels, std::size_t n, std::int32_t* sum);

  // `sum` may be one of the two.
  void (*add_floats)(const float* a, const float* b, std::size_t n, float* sum);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::quantize
