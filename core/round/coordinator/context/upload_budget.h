// How much the agents of a job may have under way to the coordinator at once, by the memory that
// the coordinator has for incomplete payloads (CoordinatorConfig::incoming_bytes_max).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/round/coordinator/context/coordinator_config.h"

namespace tributary {

class UploadBudget {
 public:
  // `values` of a bucket, at most.
  UploadBudget(const CoordinatorConfig& config, std::size_t members, std::uint64_t values);

  // Agents wait to be called before they send: the payloads that all of them have of a bucket
  // would not find room at once, if they were as large as what is encoded.
  bool called() const { return called_; }
  std::uint64_t incoming_bytes_max() const { return incoming_bytes_max_; }
  // Parts of this size fit where all agents have some under way, as far as parts can be small.
  std::uint32_t part_bytes() const { return part_bytes_; }
  // Parts that an agent may have under way.
  std::uint32_t window() const { return window_; }

 private:
  bool called_;
  std::uint64_t incoming_bytes_max_;
  std::uint32_t part_bytes_;
  std::uint32_t window_;
};

}  // namespace tributary
