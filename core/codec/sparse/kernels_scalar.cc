// The scalar version of the loops, which is the specification.
#include <algorithm>

#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/kernels.h"

namespace tributary::sparse {
namespace {

std::uint32_t largest_magnitude(const float* x, std::size_t n) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, magnitude_bits(x[i]));
  return largest;
}

std::size_t count_at_least(const float* x, std::size_t n, std::uint32_t magnitude_min) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += magnitude_bits(x[i]) >= magnitude_min ? 1u : 0u;
  return count;
}

Collected collect(const float* x, std::size_t n, std::uint32_t magnitude_min,
                  std::uint32_t first_index, std::uint32_t* indices) {
  Collected all = {.count = 0, .largest = 0};
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t magnitude = magnitude_bits(x[i]);
    all.largest = std::max(all.largest, magnitude);
    if (magnitude < magnitude_min) continue;
    indices[all.count++] = first_index + static_cast<std::uint32_t>(i);
  }
  return all;
}

std::size_t keep_within(const float* x, std::size_t n, std::uint32_t magnitude_min,
                        std::uint32_t magnitude_end, float* out) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t magnitude = magnitude_bits(x[i]);
    if (magnitude >= magnitude_min && magnitude < magnitude_end) out[count++] = x[i];
  }
  return count;
}

void add_floats(const float* x, std::size_t n, float* sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += x[i];
}

void correct_momentum(const float* x, std::size_t n, float momentum, float* velocity,
                      float* accumulated) {
  for (std::size_t i = 0; i < n; ++i) {
    const Momentum after = corrected(x[i], momentum, {velocity[i], accumulated[i]});
    velocity[i] = after.velocity;
    accumulated[i] = after.accumulated;
  }
}

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kKernels = {
      .largest_magnitude = largest_magnitude,
      .count_at_least = count_at_least,
      .collect = collect,
      .keep_within = keep_within,
      .add_floats = add_floats,
      .correct_momentum = correct_momentum,
  };
  return kKernels;
}

}  // namespace tributary::sparse
