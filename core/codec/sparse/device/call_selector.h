// Selects on the device of a call if it has one, and on the host otherwise. The selected values are
// the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/codec/codec.h"
#include "core/codec/sparse/device/device_loops.h"
#include "core/codec/sparse/select.h"

namespace tributary::sparse {

// Selected indices, in ascending order. A device also returns the values at them; otherwise
// `values` is empty, and the caller reads the bucket.
struct Selection {
  std::span<const std::uint32_t> indices;
  std::span<const float> values = {};
};

// Like a Selector, it keeps its buffers, so use one per encoder and thread. A result is valid until
// the next call. All selections refuse NaN and Inf (not_finite).
class CallSelector {
 public:
  Result<Selection> top(const StageCall& call, std::span<const float> values, std::uint32_t k);
  Result<Selection> bisected(const StageCall& call, std::span<const float> values, std::uint32_t k,
                             unsigned bisections);
  // Selects the values that reach the magnitude of the rank in the sample, at most k_max if set.
  Result<Selection> sampled(const StageCall& call, std::span<const float> values,
                            const SampledRank& sample, std::optional<std::uint32_t> k_max);

 private:
  Result<Selection> from_device(std::span<const float> values) const;

  Selector host_;
  DeviceSelection device_;
};

}  // namespace tributary::sparse
