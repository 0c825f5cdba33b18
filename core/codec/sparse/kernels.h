// The loops of this family that read every value of a bucket, once as the plain specification and
// once in SIMD (Highway, at the best width that the machine has). Both give the same bits.
//
// Assumptions: pointers are aligned to their type; input and output do not overlap, except where an
// argument is both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/codec/codec.h"

namespace tributary::sparse {

// How far a vector may write beyond the last element that collect() or keep_within() keep.
constexpr std::size_t kCollectSlack = 64;

struct Collected {
  std::size_t count;
  std::uint32_t largest;  // magnitude of all that was read: kInfinityBits or more is Inf or NaN
};

struct Kernels {
  // The largest magnitude as bits.
  std::uint32_t (*largest_magnitude)(const float* x, std::size_t n);

  std::size_t (*count_at_least)(const float* x, std::size_t n, std::uint32_t magnitude_min);

  // The indices, from first_index on, of the values whose magnitude is magnitude_min or more, in
  // ascending order; `indices` has room for n + kCollectSlack.
  Collected (*collect)(const float* x, std::size_t n, std::uint32_t magnitude_min,
                       std::uint32_t first_index, std::uint32_t* indices);

  // The values of a magnitude from magnitude_min to below magnitude_end, in order; returns how
  // many. `out` has room for n + kCollectSlack.
  std::size_t (*keep_within)(const float* x, std::size_t n, std::uint32_t magnitude_min,
                             std::uint32_t magnitude_end, float* out);

  void (*add_floats)(const float* x, std::size_t n, float* sum);

  // corrected() for every element.
  void (*correct_momentum)(const float* x, std::size_t n, float momentum, float* velocity,
                           float* accumulated);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::sparse
