// The planner's decision for a job's rounds, and its application to plans. The groups of layers of
// a job with fusion = "optimal" are part of it.
//
// The last valid decision is in force from the next attempt on, until another one replaces it or no
// plan can be made from it. Jobs that are not planned ignore decisions. `job` must outlive the
// object. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "core/round/common/plan/plan_builder.h"
#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/job/fusion_policy.h"

namespace tributary {

class AdvicePolicy {
 public:
  explicit AdvicePolicy(const JobContext& job) : job_(job), fusion_(job) {}

  // Takes a decision. A decision that is not valid is refused with a note, which names
  // `next_round`; the job's own policy is then in force.
  void advise(std::shared_ptr<const PlanAdvice> advice, std::uint64_t next_round);
  // Drops the decision for this reason. Rounds continue by the job's own policy.
  void refuse(const Status& why, std::uint64_t next_round);

  bool advised() const { return advice_ != nullptr; }
  // The job's policy with the decision applied to it.
  const RoundPolicy& policy() const { return planned_ ? *planned_ : job_.policy(); }
  // Pause after every round, in seconds.
  double pause_s() const { return advice_ ? advice_->pause_s : 0; }
  // Adds the decision, its reason and the members' ratios to the request for a plan.
  void complete(PlanRequest& request, const Membership& membership);

  // Reports an agent's report, the rate of its downlink and a committed round to the planner.
  void report_agent(const AgentSession& session, const wire::Report& report);
  void saw_downlink(const std::string& agent_id, double s_per_byte) {
    fusion_.saw_downlink(agent_id, s_per_byte);
  }
  // The other ways of exchange that the next round could use.
  struct Reachable {
    bool peers = false;
    bool aggregator = false;
  };
  void report_commit(const RoundRecord& record, const ActiveRound& round,
                     const Membership& membership, const Reachable& reachable);

 private:
  static double hidden_s(const wire::Report& report);
  void add_reason(PlanRequest& request);
  void add_ratios(PlanRequest& request, const Membership& membership);

  const JobContext& job_;
  FusionPolicy fusion_;
  std::shared_ptr<const PlanAdvice> advice_;    // null: none, or it cannot be applied
  std::unique_ptr<const RoundPolicy> planned_;  // null with advice_
  // The choice of the round that is under way. A decision that arrives meanwhile is of the next
  // one.
  RoundChoice planned_choice_;
  // The round whose plan contains the complete reason; 0: the next plan will.
  std::uint64_t reason_round_ = 0;
};

}  // namespace tributary
