// One attempt at a round at an agent: the plan, this agent's place in it, the state of encoding,
// and the received aggregates.
//
// An agent participates in a round, or only follows it to be able to apply its commit. The plan was
// validated against the job. Aggregates are checked on arrival, and the plan's sizes bound their
// memory. Not thread-safe.
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

// The state of one bucket.
struct BucketWork {
  std::uint32_t encoded = 0;                     // number of stages
  bool failed = false;                           // a stage could not be encoded
  bool of_all = false;                           // its result is of all participants
  std::vector<SharedBytes> combined;             // of the closed stages, in order
  std::map<std::uint32_t, Reassembly> arriving;  // by stage; may be beyond the next one
  std::map<std::uint32_t, SharedBytes> ahead;    // complete, but of a stage beyond a missing one

  std::vector<ByteSpan> spans(std::size_t count) const {
    std::vector<ByteSpan> all;
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(*combined[i]);
    return all;
  }
};

// The cost of an attempt at this agent.
struct RoundCost {
  TimeNs encode_ns = 0;
  TimeNs decode_ns = 0;        // of decoding results and computing the next model
  std::uint64_t bytes_up = 0;  // including repeated bytes
  std::uint64_t bytes_down = 0;
  TimeNs exchange_ns = 0;       // of the last exchange among peers, from its first bucket on
  EncodingFacts encoding = {};  // of all payloads that this agent has encoded
};

class AgentRound {
 public:
  explicit AgentRound(std::shared_ptr<const RoundPlan> plan)
      : plan_(std::move(plan)), work_(plan_->buckets().size()) {}
  void take_part_as(std::uint32_t member) { member_ = member; }

  const RoundPlan& plan() const { return *plan_; }
  const std::shared_ptr<const RoundPlan>& shared_plan() const { return plan_; }
  const RoundKey& key() const { return plan_->key(); }
  std::optional<std::uint32_t> member() const { return member_; }  // empty: it only follows
  std::optional<std::uint32_t> rank() const {
    return member_ ? plan_->rank(*member_) : std::nullopt;
  }

  // Its update is available and is being encoded. The update was trained for this round or an
  // earlier one.
  void begin_work(std::uint64_t trained_round) {
    working_ = true;
    trained_round_ = trained_round;
    mechanisms_.rounds_late = static_cast<std::uint32_t>(key().round - trained_round);
  }
  std::uint64_t trained_round() const { return working_ ? trained_round_ : key().round; }
  bool working() const { return working_; }
  // This agent sends nothing more in the attempt.
  void withdraw() { withdrawn_ = true; }
  bool withdrawn() const { return withdrawn_; }

  // --- by bucket ---
  std::vector<BucketWork>& work() { return work_; }
  const std::vector<BucketWork>& work() const { return work_; }
  // True if every bucket is encoded as far as its stages are open.
  bool all_encoded() const;
  // Handles a part of an aggregate. Returns true if a stage of the bucket has become complete, or
  // mismatch for a part that does not fit the plan.
  Result<bool> take(const wire::Part& part, ByteSpan payload);
  // A request for the next part of a bucket; empty if all stages are complete.
  std::optional<wire::ReceiptT> missing(std::uint32_t bucket) const;
  // True if all aggregates of the outcome have arrived. An aggregate with another hash is dropped
  // with a note.
  bool has_all(const wire::RoundOutcomeT& outcome, ActionList& out);
  // A bucket of the outcome with its aggregates. Requires has_all().
  CommittedBucket committed(const wire::OutcomeT& bucket, const wire::RoundOutcomeT& outcome) const;
  std::uint64_t bytes() const;

  RoundCost& cost() { return cost_; }
  const RoundCost& cost() const { return cost_; }

  // Counts a bucket whose first stage was encoded; `viewed`: with the optimizer's state.
  void count_encoded(const PlannedBucket& bucket, const Execution& execution, bool viewed);
  // Counts these buckets by the device that encoded the newest payload of each. Call it when all
  // stages are encoded: a device may have encoded a later stage only.
  void count_devices(const Execution& execution);
  // The facts of the attempt at this agent, for its report.
  wire::MechanismsT& mechanisms() { return mechanisms_; }

 private:
  std::shared_ptr<const RoundPlan> plan_;
  std::optional<std::uint32_t> member_;
  std::vector<BucketWork> work_;
  bool working_ = false;
  std::uint64_t trained_round_ = 0;
  bool withdrawn_ = false;
  RoundCost cost_;
  wire::MechanismsT mechanisms_;
  std::vector<std::uint32_t> encoded_;  // the buckets that count_encoded() has counted
};

}  // namespace tributary
