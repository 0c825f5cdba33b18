// The loops of the fixed-width codecs, in a scalar version (the specification) and a SIMD version
// (Highway, at the best width of the machine). Both produce the same bits; a test compares them.
//
// Assumptions: pointers are aligned to their element type. Inputs and outputs do not overlap,
// except that `sum` is both. The functions have no state; threads may call them for different
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "core/codec/codec.h"

namespace tributary::quantize {

// One table per backend; `n` is a number of elements everywhere.
struct Kernels {
  // Returns the largest magnitude as bits. A result of kInfinityBits or more means that a value is
  // Inf or NaN.
  std::uint32_t (*largest_magnitude)(const float* x, std::size_t n);

  // Encoders to 16 bits return the largest magnitude of the input, as above. Decoders return the
  // largest 16-bit magnitude of the input.
  std::uint32_t (*to_half)(const float* x, std::size_t n, std::uint16_t* out);
  std::uint32_t (*to_bfloat)(const float* x, std::size_t n, std::uint16_t* out);
  std::uint32_t (*from_half)(const std::uint16_t* in, std::size_t n, float* x);
  std::uint32_t (*from_bfloat)(const std::uint16_t* in, std::size_t n, float* x);

  // The element functions of elements.h for a run of values of one block. `first_element` is the
  // index of x[0] in the bucket and addresses the random draws.
  void (*to_nearest_levels)(const float* x, std::size_t n, float levels_per_unit,
                            std::int8_t* levels);
  void (*to_random_levels)(const float* x, std::size_t n, float levels_per_unit, StreamKey key,
                           std::uint32_t first_element, std::int8_t* levels);

  // Sets x[i] = levels[i] * step. The conversion of a 32-bit level to float32 rounds.
  void (*from_levels8)(const std::int8_t* levels, std::size_t n, float step, float* x);
  void (*from_levels16)(const std::int16_t* levels, std::size_t n, float step, float* x);
  void (*from_levels32)(const std::int32_t* levels, std::size_t n, float step, float* x);

  // Integer sums. The caller guarantees that they do not overflow.
  void (*add_levels8_to16)(const std::int8_t* levels, std::size_t n, std::int16_t* sum);
  void (*add_levels8_to32)(const std::int8_t* levels, std::size_t n, std::int32_t* sum);
  void (*add_levels16_to16)(const std::int16_t* levels, std::size_t n, std::int16_t* sum);
  void (*add_levels16_to32)(const std::int16_t* levels, std::size_t n, std::int32_t* sum);
  void (*add_levels32_to32)(const std::int32_t* levels, std::size_t n, std::int32_t* sum);

  // `sum` may be equal to `a` or `b`.
  void (*add_floats)(const float* a, const float* b, std::size_t n, float* sum);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::quantize
