// The coordinator's part of one bucket in one attempt. Payloads of a stage are combined as they
// arrive; each stage is closed once, and the next one begins. In an exchange among peers it
// receives the results instead. Not thread-safe.
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
#include "core/round/coordinator/attempt/late_payloads.h"
#include "core/round/coordinator/uploads/segmented_results.h"

namespace tributary {

// The committed model from which an attempt starts, with its rule. They must outlive the attempt.
struct RoundStart {
  const ModelRule* rule = nullptr;  // null: results are encoded without the optimizer's state
  SharedFloats model = nullptr;
};

// The place of a segment among the results of a bucket (result_segments.h).
struct ResultSegment {
  std::uint32_t stage = 0;
  std::uint32_t segment = 0;
  std::uint32_t segments = 1;
};

class BucketAggregation {
 public:
  // `residual` is the aggregator's residual for the values of this bucket; empty if it keeps none.
  // The plan, the bucket and the residual must outlive the object.
  BucketAggregation(const RoundPlan& plan, const PlannedBucket& bucket, const Execution& execution,
                    std::span<float> residual, RoundStart start);
  // Begins the open stage.
  Status begin();

  const PlannedBucket& bucket() const { return bucket_; }
  std::uint32_t stage() const { return static_cast<std::uint32_t>(combined_.size()); }
  bool open() const { return dropped_ == Dropped::no && stage() < bucket_.stages(); }
  bool finished() const { return dropped_ == Dropped::no && stage() == bucket_.stages(); }
  bool at_last_stage() const { return stage() == bucket_.last_stage(); }
  // True if the open stage consists of one payload, the root's.
  bool takes_one() const;

  // True if the member's payload of the open stage was added, or was refused and is not expected
  // again.
  bool has(std::uint32_t member) const { return received_.test(member); }
  // True if the member's payload was added to the stage before the open one.
  bool in_step(std::uint32_t member) const { return stage() > 0 && before_.test(member); }
  // Number of members whose payload was added to the open stage. In the last one, a standalone
  // payload counts as well.
  std::uint32_t contributors() const { return contributors_.count(); }

  // Adds a member's payload of the open stage. Requires that the stage is open and that has(member)
  // is false. A payload that is refused counts as received, because a repeat would be refused as
  // well. Returns mismatch if the payload is not the member's own, or the aggregator's error.
  Status add(std::uint32_t member, ByteSpan payload);
  // Adds a member's standalone payload, under the same conditions. No further payload of the member
  // is expected in any stage.
  Status add_standalone(std::uint32_t member, ByteSpan payload);
  // After an exchange among peers or in the network: takes a segment of the result of a stage,
  // which may be beyond the open one. Drops the bucket if the segments do not make a result.
  Status take_segment(const ResultSegment& segment, Bytes bytes);
  // The segments that have arrived, also of earlier stages.
  const SegmentedResults& results() const { return results_; }
  // Combines the payloads of the open stage and begins the next stage. Drops the bucket if the
  // stage has no payload, or if the last stage has fewer than `least`.
  Status close(std::uint32_t least);
  void drop() { dropped_ = Dropped::yes; }
  // Drops the bucket because its result is not finite, or the step with it is not.
  void drop_not_finite() { dropped_ = Dropped::not_finite; }
  bool not_finite() const { return dropped_ == Dropped::not_finite; }
  // The members whose payloads of any stage are part of the aggregate.
  const Bitmap& involved() const { return involved_; }

  // --- after the last stage ---
  const Bitmap& in_result() const { return contributors_; }
  const std::vector<SharedBytes>& combined() const { return combined_; }
  CommittedBucket committed(double divisor) const;
  // Keeps or drops the aggregator's new residual, depending on whether the result is committed.
  void settle(bool committed);
  // Bytes of the combined payloads and of the segments of results.
  std::uint64_t bytes() const;

 private:
  StageCall call() const;
  Status finish(const StageCall& call, Bytes& combined);
  Status take_result(Bytes payload);
  Status check_sender(std::uint32_t member, ByteSpan payload) const;

  const RoundPlan& plan_;
  const PlannedBucket& bucket_;
  const Execution execution_;
  const std::span<float> residual_;
  const RoundStart start_;
  std::unique_ptr<Aggregator> aggregator_;
  std::vector<SharedBytes> combined_;
  std::vector<ByteSpan> spans_;
  LatePayloads late_;
  SegmentedResults results_;
  Bitmap received_;
  Bitmap contributors_;
  Bitmap before_;  // contributors of the stage before
  Bitmap involved_;
  enum class Dropped : std::uint8_t { no, yes, not_finite } dropped_ = Dropped::no;
};

}  // namespace tributary
