// The coordinator's side of one bucket in one attempt: its stages one after the other, each
// combined on arrival and closed once. Of an exchange among peers it takes what they came to.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/round/common/machine/bitmap.h"
#include "core/round/common/machine/records.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class BucketAggregation {
 public:
  // `residual` is the aggregator's, of this bucket's values; empty where it keeps none. The plan
  // outlives this.
  BucketAggregation(const RoundPlan& plan, const PlannedBucket& bucket, const Execution& execution,
                    std::span<float> residual);
  Status begin();

  const PlannedBucket& bucket() const { return bucket_; }
  std::uint32_t stage() const { return static_cast<std::uint32_t>(combined_.size()); }
  bool open() const { return !dropped_ && stage() < bucket_.stages(); }
  bool finished() const { return !dropped_ && stage() == bucket_.stages(); }
  bool at_last_stage() const { return stage() == bucket_.last_stage(); }
  // One payload is all there is: the root's.
  bool takes_one() const;

  // Of the stage that is open: members whose payload is in, or was refused and will not be.
  bool has(std::uint32_t member) const { return heard_.test(member); }
  std::uint32_t contributors() const { return contributors_.count(); }

  // Adds a member's payload of the open stage. One that is refused counts as heard: it would be no
  // better if it came again.
  Status add(std::uint32_t member, ByteSpan payload);
  // By peers: what the open stage came to.
  Status take_result(ByteSpan payload);
  // Combines what has come and begins the next stage. Without any payload, or with fewer than
  // `least` in the last stage, the bucket is dropped.
  Status close(std::uint32_t least);
  void drop() { dropped_ = true; }

  // After the last stage.
  const Bitmap& in_result() const { return contributors_; }
  const std::vector<SharedBytes>& combined() const { return combined_; }
  CommittedBucket committed(double divisor) const;
  // Of the aggregator's residual.
  void settle(bool committed);
  std::uint64_t bytes() const;

 private:
  StageCall call() const;
  Status check_sender(std::uint32_t member, ByteSpan payload) const;

  const RoundPlan& plan_;
  const PlannedBucket& bucket_;
  const Execution execution_;
  const std::span<float> residual_;
  std::unique_ptr<Aggregator> aggregator_;
  std::vector<SharedBytes> combined_;
  std::vector<ByteSpan> spans_;
  Bitmap heard_;
  Bitmap contributors_;
  bool dropped_ = false;
};

}  // namespace tributary
