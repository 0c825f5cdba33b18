// Decides for each attempt whether the members exchange among themselves or through the star.
//
// An exchange among peers is applied only after all members have reported the same results. If it
// fails, the attempt is given up, the star replaces the exchange for a number of rounds that
// doubles with each failure (up to 64), and a new epoch begins with new connections. `job` must
// outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "core/round/common/plan/round_plan.h"
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/job/collective/failure_pause.h"

namespace tributary {

class PeerPolicy {
 public:
  explicit PeerPolicy(const JobContext& job) : job_(job) {}

  // An epoch begins. Decides whether its members can connect to one another, if the job asks for
  // exchanges among peers or a planner may ask for them.
  void open(const Membership& membership);
  // Number of the members' connections in this epoch; 0: they cannot reach one another.
  std::uint64_t session() const { return session_; }
  // True if a failed exchange requires a new epoch before this round.
  bool needs_epoch(std::uint64_t round) const { return renew_ || (broken_ && due(round)); }
  bool reachable(std::uint64_t round) const { return session_ != 0 && due(round); }

  using Participants = CollectiveParticipants;
  // The collective of an attempt at this round: the policy's one among the prompt participants, or
  // the star among all. `reason` is replaced if the star stands in. While some are late, every
  // fourth round uses the star, because only there can they contribute.
  wire::Collective choose(const RoundPolicy& policy, const Participants& participants,
                          std::uint64_t round, std::string& reason) const;
  // True if the star stands in for an exchange that has failed in this round.
  bool stood_in(std::uint64_t round) const { return pause_.began_in(round); }

  // Records a failed exchange.
  void failed(const RoundPlan& plan);
  void succeeded() { pause_.succeeded(); }

 private:
  bool due(std::uint64_t round) const { return pause_.over(round); }

  const JobContext& job_;
  std::uint64_t session_ = 0;
  std::string why_not_;
  bool renew_ = false;   // members may have kept different residuals
  bool broken_ = false;  // an exchange has failed in this epoch
  FailurePause pause_;
};

}  // namespace tributary
