// The loops of the sparse codecs over whole buckets, as a device runs them. Results are those of
// Selector and of the scalar specification. Spans and pointers are to host memory. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// The selected values, which are all that comes back from a device.
struct DeviceSelection {
  IndexVector indices;  // ascending
  FloatVector values;   // at the indices
  std::uint32_t largest =
      0;  // of the bucket; kInfinityBits or more: NaN or Inf, and the rest is void
};

class DeviceLoops {
 public:
  virtual ~DeviceLoops() = default;

  // Selector::top() and Selector::bisected().
  virtual Status select_top(std::span<const float> values, std::uint32_t k,
                            DeviceSelection& out) = 0;
  virtual Status select_bisected(std::span<const float> values, std::uint32_t k,
                                 unsigned bisections, DeviceSelection& out) = 0;
  // Selector::at_least() with the magnitude of the rank in the sample, or at_least_up_to() if k_max
  // is set.
  virtual Status select_sampled(std::span<const float> values, const SampledRank& sample,
                                std::optional<std::uint32_t> k_max, DeviceSelection& out) = 0;
  // pick() and scatter() of sparse_body.h. pick() returns the largest magnitude of the bucket.
  virtual Result<std::uint32_t> pick(std::span<const std::uint32_t> indices,
                                     std::span<const float> values, float* picked) = 0;
  virtual Status scatter(std::span<const std::uint32_t> indices, const float* values,
                         std::span<float> out) = 0;
};

}  // namespace tributary::sparse
