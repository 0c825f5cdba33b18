// Does the committed rounds of a job again, from what the coordinator stored and what the agents
// were seen to send: the model must come to the same, and what went into a result must be what its
// contributors gave.
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
  // Null: there is no such agent.
  using AccountOf = std::function<Account*(const std::string& agent_id)>;

  // Once, before the first round.
  Status begin(std::shared_ptr<const JobModel> job, FloatVector model);
  // Does the next round, and writes what its contributors gave into their accounts. An error says
  // what does not add up; the model may be half done then.
  Status play(const CommitRecord& record, const EpochRecord& epoch, const AccountOf& account_of);

  // There is no account of what a codec changes on purpose, or is right about on average only.
  bool can_keep_accounts(const RoundPolicy& policy);
  std::uint64_t model_hash() const;
  // Rounds that were played, by the collective of their plan.
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
  FloatVector model_;                // after the last round
  FloatVector aggregator_residual_;  // empty: zeros
  FloatVector sum_;
  // By peers: what the exchanges of the round came to so far, by the bucket's place.
  std::map<std::uint32_t, FloatVector> exchanged_;
  std::map<std::string, std::uint64_t> collectives_;
};

}  // namespace tributary
