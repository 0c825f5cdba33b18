// One attempt of a round as an agent follows it: the plan, this agent's place in it, what it has
// encoded and which aggregates have come back.
//
// An agent follows a round, to be able to apply its commit, or takes part in it. The plan has been
// checked against the job. Aggregates are checked as they come; their memory is bounded by the
// plan's sizes.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/common/machine/reassembly.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

struct BucketWork {
  std::uint32_t encoded = 0;                     // stages
  bool failed = false;                           // could not be encoded
  std::vector<SharedBytes> combined;             // of the stages that are closed, in order
  std::map<std::uint32_t, Reassembly> arriving;  // by stage; may be ahead
  std::map<std::uint32_t, SharedBytes> ahead;    // whole, but of a stage behind a missing one

  std::vector<ByteSpan> spans(std::size_t count) const {
    std::vector<ByteSpan> all;
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(*combined[i]);
    return all;
  }
};

// Time and payload bytes that an attempt has taken at this agent.
struct RoundCost {
  TimeNs encode_ns = 0;
  TimeNs decode_ns = 0;        // of results, and of making the next model with them
  std::uint64_t bytes_up = 0;  // also those that were sent again
  std::uint64_t bytes_down = 0;
};

class AgentRound {
 public:
  explicit AgentRound(std::shared_ptr<const RoundPlan> plan)
      : plan_(std::move(plan)), work_(plan_->buckets().size()) {}
  void take_part_as(std::uint32_t member) { member_ = member; }

  const RoundPlan& plan() const { return *plan_; }
  const std::shared_ptr<const RoundPlan>& shared_plan() const { return plan_; }
  const RoundKey& key() const { return plan_->key(); }
  std::optional<std::uint32_t> member() const { return member_; }  // none: it only follows
  std::optional<std::uint32_t> rank() const {
    return member_ ? plan_->rank(*member_) : std::nullopt;
  }

  // Its update is there, and is being encoded.
  void begin_work() { working_ = true; }
  bool working() const { return working_; }
  // This agent gives nothing more in the attempt.
  void withdraw() { withdrawn_ = true; }
  bool withdrawn() const { return withdrawn_; }

  // --- by bucket ---
  std::vector<BucketWork>& work() { return work_; }
  const std::vector<BucketWork>& work() const { return work_; }
  // Every bucket has been encoded, as far as its stages are still open.
  bool all_encoded() const;
  // Takes a part of an aggregate. True when a stage of the bucket has become whole.
  Result<bool> take(const wire::Part& part, ByteSpan payload);
  // The next part of a bucket to ask for, unless its stages up to the last are all there.
  std::optional<wire::ReceiptT> missing(std::uint32_t bucket) const;
  // Whether all aggregates of the outcome are here. One that is not the outcome's is refused with a
  // note, and dropped.
  bool has_all(const wire::RoundOutcomeT& outcome, ActionList& out);
  // A bucket of the outcome with its aggregates, all of which are here.
  CommittedBucket committed(const wire::OutcomeT& bucket, const wire::RoundOutcomeT& outcome) const;
  std::uint64_t bytes() const;

  RoundCost& cost() { return cost_; }
  const RoundCost& cost() const { return cost_; }

 private:
  std::shared_ptr<const RoundPlan> plan_;
  std::optional<std::uint32_t> member_;
  std::vector<BucketWork> work_;
  bool working_ = false;
  bool withdrawn_ = false;
  RoundCost cost_;
};

}  // namespace tributary
