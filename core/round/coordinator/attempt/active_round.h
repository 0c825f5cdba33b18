// The state of one attempt at a round on the coordinator: its plan, its members, and the
// aggregation of each bucket. Not thread-safe.
//
// It owns the aggregation and shares the plan; Attempt decides when stages close. Memory: one sum
// per bucket, independent of the number of members, plus the finished payloads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/round/common/plan/round_plan.h"
#include "core/round/common/session/conversation.h"
#include "core/round/coordinator/attempt/bucket_aggregation.h"
#include "core/round/coordinator/uploads/upload_progress.h"

namespace tributary {

// The state of one member of the epoch in the attempt.
struct RoundMember {
  std::uint64_t session = 0;  // 0: no session
  bool participates = false;
  bool withdrawn = false;
  bool part_arrived = false;  // at least one payload part has arrived
  // The stage that has closed without it, in this attempt or before; empty: none has, or its upload
  // from earlier rounds is complete. Its payloads that arrive in time count all the same. Changed
  // only by ActiveRound.
  std::optional<std::uint32_t> missed_stage = {};
  // The round for which its newest update was trained.
  std::uint64_t trained_round = 0;
  std::string fault = {};  // why its numbers cannot be added; empty: no such payload
  // In an exchange among peers or in the network: the hash of the results that the member reports;
  // 0: not reported yet.
  std::uint64_t results_hash = 0;
  // The member that sends this one's segments of results, because this one has left after its
  // report; empty: none.
  std::optional<std::uint32_t> replaced_by = {};
  // Its combinations for the linear check of sums in the network; empty: not reported.
  struct Combinations {
    std::uint64_t sent = 0;
    std::uint64_t got = 0;
  };
  std::optional<Combinations> sums_check = {};
  // Arrival of payload parts, from which the rate of the uplink is computed. The first part is not
  // counted, because its time includes the time before sending.
  TimeNs first_part_at_ns = 0;
  TimeNs last_part_at_ns = 0;
  std::uint64_t bytes_after_first = 0;
  UploadProgress upload = {};

  // True if payloads of this member may still arrive.
  bool present() const { return participates && session != 0 && !withdrawn; }
};

class ActiveRound {
 public:
  ActiveRound(std::shared_ptr<const RoundPlan> plan, std::vector<RoundMember> members)
      : plan_(std::move(plan)),
        members_(std::move(members)),
        sizes_(*plan_),
        late_(static_cast<std::uint32_t>(std::ranges::count_if(
            members_, [](const RoundMember& each) { return each.missed_stage.has_value(); }))) {}

  // Begins the aggregation of all buckets. `residual` is the aggregator's residual for the whole
  // model; empty if it keeps none. It must outlive the object.
  Status begin(const Execution& execution, std::span<float> residual, const RoundStart& start);

  const RoundPlan& plan() const { return *plan_; }
  const std::shared_ptr<const RoundPlan>& shared_plan() const { return plan_; }
  const RoundKey& key() const { return plan_->key(); }
  std::vector<RoundMember>& members() { return members_; }
  const std::vector<RoundMember>& members() const { return members_; }
  std::vector<std::unique_ptr<BucketAggregation>>& buckets() { return buckets_; }
  const std::vector<std::unique_ptr<BucketAggregation>>& buckets() const { return buckets_; }

  // A stage closes without the member, or its upload from earlier rounds is complete.
  void miss(std::uint32_t member, std::uint32_t stage);
  void await_again(std::uint32_t member);

  // True if the bucket's open stage waits for the member's payload. It does not wait for a member
  // that has missed this stage or a later one, nor for one that has missed an earlier stage, unless
  // its payload of the stage before arrived in time.
  bool awaits(const BucketAggregation& bucket, std::uint32_t member) const;
  // True if every member that the attempt waits for has sent its payload of the bucket's open
  // stage, and enough have, as far as they can be had; or if the stage takes a single payload and
  // has it.
  bool complete(const BucketAggregation& bucket) const;
  // Number of payloads that close the bucket's open stage without the late members.
  std::uint32_t least(const BucketAggregation& bucket) const;
  // True if a bucket has an open stage.
  bool any_open() const;
  // In an exchange among peers: the hash of the results that have arrived.
  std::uint64_t results_hash() const;
  // The members that may be the cause of results that are not finite; none if all are finite.
  Bitmap suspects() const;
  // Bytes of all combined payloads.
  std::uint64_t bytes() const;
  // Counts an arrived part and updates the measured rate.
  void count_part(RoundMember& member, const UploadedPart& part, TimeNs now, TimeNs round_trip_ns);
  const UploadSizes& sizes() const { return sizes_; }

  TimeNs began_at_ns = 0;
  TimeNs preliminary_deadline_ns = kNever;
  TimeNs deadline_ns = kNever;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  // The facts of the round, as far as they are known before the commit.
  wire::RoundMechanismsT mechanisms;

 private:
  std::shared_ptr<const RoundPlan> plan_;
  std::vector<RoundMember> members_;
  std::vector<std::unique_ptr<BucketAggregation>> buckets_;
  UploadSizes sizes_;
  std::uint32_t late_ = 0;  // members that have missed a stage
  // By bucket: a member that its open stage waited for. While it is still awaited, complete() asks
  // for no other member, so that it need not ask for all of them at each payload.
  mutable std::vector<std::uint32_t> awaited_;
};

}  // namespace tributary
