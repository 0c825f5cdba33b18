// The loops of the sparse codecs that read every value of a bucket, in a scalar version (the
// specification) and a SIMD version (Highway, at the best width of the machine). Both produce the
// same bits.
//
// Assumptions: pointers are aligned to their element type. Inputs and outputs do not overlap,
// except for arguments that are both. The functions have no state; threads may call them for
// different memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/codec/codec.h"

namespace tributary::sparse {

// Number of elements that a vector store may write after the last element that collect() or
// keep_within() keep.
constexpr std::size_t kCollectSlack = 64;

struct Collected {
  std::size_t count;
  std::uint32_t largest;  // largest magnitude of the input; kInfinityBits or more is Inf or NaN
};

struct Kernels {
  // Returns the largest magnitude as bits.
  std::uint32_t (*largest_magnitude)(const float* x, std::size_t n);

  // Returns the number of values whose magnitude is magnitude_min or more.
  std::size_t (*count_at_least)(const float* x, std::size_t n, std::uint32_t magnitude_min);

  // Writes the indices, counted from first_index, of the values whose magnitude is magnitude_min or
  // more, in ascending order. `indices` must have space for n + kCollectSlack elements.
  Collected (*collect)(const float* x, std::size_t n, std::uint32_t magnitude_min,
                       std::uint32_t first_index, std::uint32_t* indices);

  // Copies the values whose magnitude is at least magnitude_min and below magnitude_end, in order,
  // and returns their number. `out` must have space for n + kCollectSlack elements.
  std::size_t (*keep_within)(const float* x, std::size_t n, std::uint32_t magnitude_min,
                             std::uint32_t magnitude_end, float* out);

  // Sets sum[i] += x[i].
  void (*add_floats)(const float* x, std::size_t n, float* sum);

  // Applies corrected() to every element; velocity and accumulated are updated.
  void (*correct_momentum)(const float* x, std::size_t n, float momentum, float* velocity,
                           float* accumulated);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::sparse
