// The loops of the codecs with three values, in a scalar version (the specification) and a SIMD
// version (Highway, at the best width of the machine). Both produce the same bits; a test compares
// them.
//
// Assumptions: `x` and `sum` point to the first value of a part and are aligned to 4 bytes. Inputs
// and outputs do not overlap, except that `sum` is both. The packed bytes of a range begin at in[0]
// or out[0], wherever the range begins in its part. The functions have no state; threads may call
// them for different memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "core/codec/codec.h"
#include "core/codec/threelc/packing.h"

namespace tributary::threelc {

// Number of bytes that zero_run_decode may write after its last valid byte.
constexpr std::size_t kDecodeSlackBytes = 64;

constexpr std::size_t kSquareLanes = 16;

// The last step of Kernels::sum_of_squares: the values from `i` on, one lane each, and the tree.
inline double finish_sum_of_squares(const float* x, std::size_t i, std::size_t n, double* lanes) {
  for (std::size_t k = 0; i < n; ++i, ++k) {
    const auto value = static_cast<double>(x[i]);
    lanes[k] += value * value;
  }
  for (std::size_t half = kSquareLanes / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  }
  return lanes[0];
}

// The loops for one packing. Both packings have random digits; only the quartic one also has
// rounded digits (pack_nearest).
struct PackingKernels {
  // Draws are addressed by element; `first_element` is the index of x[0] in the bucket.
  void (*pack_random)(const float* x, const PackedRange& range, float unit, StreamKey key,
                      std::uint32_t first_element, std::uint8_t* out);
  void (*unpack)(const std::uint8_t* in, const PackedRange& range, float unit, float* x);
  // A digit of 0 leaves its sum unchanged, including NaN and -0.
  void (*unpack_add)(const std::uint8_t* in, const PackedRange& range, float unit, float* sum);
};

struct Kernels {
  // Returns the largest magnitude as bits. A result of kInfinityBits or more means that a value is
  // Inf or NaN.
  std::uint32_t (*largest_magnitude)(const float* x, std::size_t n);
  // Adds in kSquareLanes strided lanes and then as a tree. The order is part of the format, because
  // M depends on the result.
  double (*sum_of_squares)(const float* x, std::size_t n);

  // Writes the quartic bytes of a range, with digits decided by `level`.
  void (*pack_nearest)(const float* x, const PackedRange& range, float level, std::uint8_t* out);
  PackingKernels quartic;
  PackingKernels two_bit;

  // Returns the number of written bytes, which is at most n.
  std::size_t (*zero_run_encode)(const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  // Returns the number of bytes that zero_run_decode will write. It is n if no byte represents a
  // run, so it also checks plain quartic bytes.
  std::size_t (*zero_run_decoded_bytes)(const std::uint8_t* in, std::size_t n);
  void (*zero_run_decode)(const std::uint8_t* in, std::size_t n, std::uint8_t* out);

  // Returns whether no pair of bits is 3, which is not a digit.
  bool (*two_bit_valid)(const std::uint8_t* in, std::size_t n);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::threelc
