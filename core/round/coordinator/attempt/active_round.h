// The state of an attempt at a round on the coordinator: its plan, its members, and the aggregation
// of each bucket.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/round/common/plan/round_plan.h"
#include "core/round/common/session/conversation.h"
#include "core/round/coordinator/attempt/bucket_aggregation.h"
#include "core/round/coordinator/attempt/upload_progress.h"

namespace tributary {

struct RoundMember {
  std::uint64_t session = 0;  // 0: lost
  bool participates = false;
  bool withdrawn = false;
  bool heard = false;  // a payload of it has come
  // By peers: what it says that they came to; 0: nothing yet.
  std::uint64_t results_hash = 0;
  // Parts of payloads, for how fast its line is: a message travels while the one before is read.
  TimeNs first_part_at_ns = 0;
  TimeNs last_part_at_ns = 0;
  std::uint64_t bytes_after_first = 0;
  UploadProgress upload = {};

  bool awaited() const { return participates && session != 0 && !withdrawn; }
};

class ActiveRound {
 public:
  ActiveRound(std::shared_ptr<const RoundPlan> plan, std::vector<RoundMember> members)
      : plan_(std::move(plan)), members_(std::move(members)), sizes_(*plan_) {}

  // `residual` is the aggregator's, of the whole model; empty where none is kept.
  Status begin(const Execution& execution, std::span<float> residual);

  const RoundPlan& plan() const { return *plan_; }
  const std::shared_ptr<const RoundPlan>& shared_plan() const { return plan_; }
  const RoundKey& key() const { return plan_->key(); }
  std::vector<RoundMember>& members() { return members_; }
  const std::vector<RoundMember>& members() const { return members_; }
  std::vector<std::unique_ptr<BucketAggregation>>& buckets() { return buckets_; }
  const std::vector<std::unique_ptr<BucketAggregation>>& buckets() const { return buckets_; }

  // Everybody who is awaited has said what the open stage needs.
  bool complete(const BucketAggregation& bucket) const;
  bool any_open() const;
  // By peers: what the results at hand come to.
  std::uint64_t results_hash() const;
  std::uint64_t bytes() const;
  void count_part(RoundMember& member, const UploadedPart& part, TimeNs now, TimeNs round_trip_ns);
  const UploadSizes& sizes() const { return sizes_; }

  TimeNs began_at_ns = 0;
  TimeNs preliminary_deadline_ns = kNever;
  TimeNs deadline_ns = kNever;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;

 private:
  std::shared_ptr<const RoundPlan> plan_;
  std::vector<RoundMember> members_;
  std::vector<std::unique_ptr<BucketAggregation>> buckets_;
  UploadSizes sizes_;
};

}  // namespace tributary
