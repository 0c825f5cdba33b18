// The standalone payloads that one bucket of a round counts. They stay as they came as long as they
// take less memory than their sum in float32; then only the sum is kept. So neither the memory of
// the coordinator nor the result grows with the number of late agents. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/round/common/machine/bitmap.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class LatePayloads {
 public:
  // `members` is their number in the epoch. The bucket must outlive the object.
  LatePayloads(const PlannedBucket& bucket, std::uint32_t members)
      : bucket_(bucket), members_(members) {}

  bool empty() const { return kept_.empty() && sum_.empty(); }
  // The members whose payloads were added.
  const Bitmap& members() const { return members_; }
  // Adds a member's payload. One that is refused changes nothing: not_finite for values that cannot
  // be added over all agents, or the codec's error.
  Status add(std::uint32_t member, const StageCall& call, ByteSpan payload);
  // The result that consists of the codec's own, which may be empty, and these payloads.
  Result<Bytes> join_to(const StageCall& call, ByteSpan own) const;

 private:
  bool smaller_than_sum(std::size_t more_bytes) const;
  Status keep(const StageCall& call, ByteSpan payload);

  const PlannedBucket& bucket_;
  Bitmap members_;
  std::vector<Bytes> kept_;
  FloatVector sum_;  // empty: kept_ has all payloads, otherwise none
};

}  // namespace tributary
