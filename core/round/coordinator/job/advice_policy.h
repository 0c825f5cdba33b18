// What a planner has decided for a job's rounds, and how far it is carried out.
//
// The last decision that is valid holds from the next attempt on, until another replaces it or one
// of its plans cannot be made. Jobs that leave nothing to a planner ignore decisions.
#pragma once

#include <cstdint>
#include <memory>

#include "core/round/common/plan/plan_builder.h"
#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary {

class AdvicePolicy {
 public:
  explicit AdvicePolicy(const JobContext& job) : job_(job) {}

  // `next_round` is for the note that says why a decision is refused.
  void advise(std::shared_ptr<const PlanAdvice> advice, std::uint64_t next_round);
  // Rounds go on as the job has them.
  void refuse(const Status& why, std::uint64_t next_round);

  bool advised() const { return advice_ != nullptr; }
  // The job's policy, with what was decided in it.
  const RoundPolicy& policy() const { return planned_ ? *planned_ : job_.policy(); }
  // After every round.
  double pause_s() const { return advice_ ? advice_->pause_s : 0; }
  // Puts the decision, its reason and the members' own ratios into the request for a plan.
  void complete(PlanRequest& request, const Membership& membership);

  // Tells the planner of an agent's report, and of a round that was just committed.
  void tell_report(const AgentSession& session, const wire::Report& report);
  void tell_commit(const RoundRecord& record, const ActiveRound& round,
                   const Membership& membership, bool peers_reachable);

 private:
  void add_reason(PlanRequest& request);
  void add_ratios(PlanRequest& request, const Membership& membership);

  const JobContext& job_;
  std::shared_ptr<const PlanAdvice> advice_;    // null: none, or it cannot be carried out
  std::unique_ptr<const RoundPolicy> planned_;  // null with advice_
  // The round whose plan gives the whole reason; 0: the next one does.
  std::uint64_t reason_round_ = 0;
};

}  // namespace tributary
