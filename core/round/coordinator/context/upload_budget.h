// The number of bytes that the agents of a job may have in flight to the coordinator, derived from
// the memory for incomplete payloads (CoordinatorConfig::incoming_bytes_max). Immutable.
//
// A pure function of its arguments: an object keeps no reference to them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/round/coordinator/context/coordinator_config.h"

namespace tributary {

class UploadBudget {
 public:
  // `values` is the largest number of values in a bucket.
  UploadBudget(const CoordinatorConfig& config, std::size_t members, std::uint64_t values);

  // True if agents must wait for a call before they send, because the payloads of all agents for
  // one bucket might not fit into the memory together. The estimate assumes uncompressed payloads.
  bool called() const { return called_; }
  std::uint64_t incoming_bytes_max() const { return incoming_bytes_max_; }
  // Size of a part, in bytes, at which every agent can have some in flight, within the limits for
  // parts.
  std::uint32_t part_bytes() const { return part_bytes_; }
  // Number of parts that an agent may have in flight.
  std::uint32_t window() const { return window_; }

 private:
  bool called_;
  std::uint64_t incoming_bytes_max_;
  std::uint32_t part_bytes_;
  std::uint32_t window_;
};

}  // namespace tributary
