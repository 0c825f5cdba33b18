// The results of one bucket in an exchange among peers or in the network, as the members upload
// them: each stage's result in segments (result_segments.h), in any order.
//
// Memory: the segments that have arrived. The caller has compared sizes with the plan. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

class SegmentedResults {
 public:
  explicit SegmentedResults(std::uint32_t stages) : stages_(stages) {}

  // Number of segments of the stage's result; 0: none has arrived.
  std::uint32_t segments(std::uint32_t stage) const {
    return static_cast<std::uint32_t>(stages_[stage].size());
  }
  bool has(std::uint32_t stage, std::uint32_t segment) const {
    return segment < stages_[stage].size() && stages_[stage][segment].has_value();
  }
  // Keeps a segment. Returns mismatch if an earlier segment was one of another number. Requires
  // segment < segments.
  Status add(std::uint32_t stage, std::uint32_t segment, std::uint32_t segments, Bytes bytes);
  bool complete(std::uint32_t stage) const;
  // Joins the segments of a complete stage and forgets their bytes. Returns mismatch if their sizes
  // are not those of the division of the result.
  Result<Bytes> join(std::uint32_t stage);

  std::uint64_t bytes() const { return bytes_; }

 private:
  std::vector<std::vector<std::optional<Bytes>>> stages_;
  std::uint64_t bytes_ = 0;
};

}  // namespace tributary
