// Recomputes the committed rounds of a job from the records that the coordinator stored and the
// messages that the agents sent. Checks that the model is the same and that the sum of the
// contributions is the result. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/round/audit/account.h"
#include "core/round/common/machine/records.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class RoundReplay {
 public:
  // Returns null if no agent has this id.
  using AccountOf = std::function<Account*(const std::string& agent_id)>;

  // Call it once, before the first round.
  Status begin(std::shared_ptr<const JobModel> job, FloatVector model);
  // Recomputes the next round and enters the contributions into the agents' accounts. An error
  // states what does not match; the model may then be half updated.
  Status play(const CommitRecord& record, const EpochRecord& epoch, const AccountOf& account_of);

  // The state after a round, to which a replay can go back.
  struct Mark {
    FloatVector model;
    FloatVector aggregator_residual;
    SharedBytes rule_state;
  };
  Mark mark() const;
  Status go_back(const Mark& mark);

  // Takes the aggregator's residual that a restarted coordinator has instead of its own. Returns
  // the number of values that it has lost: they are zeros. Fails if another value differs.
  Result<std::uint64_t> take_residual(const SharedFloats& residual);

  // Whether accounts can be exact. They cannot if a codec changes updates on purpose or is only
  // correct on average.
  bool can_keep_accounts(const RoundPolicy& policy);
  std::uint64_t model_hash() const;
  // Number of recomputed rounds for each collective, by their plans.
  const std::map<std::string, std::uint64_t>& collectives() const { return collectives_; }

 private:
  Status play_bucket(const CommitRecord& record, const RoundPlan& plan,
                     const OutcomeRecord& outcome, const CommittedBucket& committed,
                     const EpochRecord& epoch, const AccountOf& account_of);
  Status play_bucket_by_peers(const CommitRecord& record, const RoundPlan& plan,
                              const OutcomeRecord& outcome, const CommittedBucket& committed,
                              const EpochRecord& epoch, const AccountOf& account_of);

  CodecCache cache_;
  std::shared_ptr<const JobModel> job_;
  std::unique_ptr<ModelRule> rule_;
  FloatVector model_;                // the model after the last round
  FloatVector aggregator_residual_;  // empty: zeros
  FloatVector sum_;
  // For rounds among peers: the sum of the round's exchanges so far, by the bucket's place.
  std::map<std::uint32_t, FloatVector> exchanged_;
  std::map<std::string, std::uint64_t> collectives_;
};

}  // namespace tributary
