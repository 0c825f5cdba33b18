// Decides for each attempt whether its exchange goes among the members or by the star.
//
// Among peers nothing is applied before all of them have reported the same results; if anything
// goes wrong the attempt is given up, the star stands in for a number of rounds that doubles with
// each failure, and a new epoch begins with new connections.
#pragma once

#include <cstdint>
#include <string>

#include "core/round/common/plan/round_plan.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary {

class PeerPolicy {
 public:
  explicit PeerPolicy(const JobContext& job) : job_(job) {}

  // An epoch begins: members are told of one another where the job asks for exchanges among peers,
  // or a planner may ask for them later.
  void open(const Membership& membership);
  // Of the members' connections in this epoch; 0: they cannot reach one another.
  std::uint64_t session() const { return session_; }
  // A failed exchange calls for a new epoch before this round.
  bool needs_epoch(std::uint64_t round) const { return renew_ || (broken_ && due(round)); }
  bool reachable(std::uint64_t round) const { return session_ != 0 && due(round); }

  // What stands in for the collective that `policy` asks for, in an attempt at this round.
  // `reason` is replaced where the star stands in.
  wire::Collective choose(const RoundPolicy& policy, std::uint32_t participants,
                          std::uint64_t round, std::string& reason) const;
  // How often the model is exchanged in the round. `reason` is replaced where that is less often
  // than the policy asks for.
  std::uint32_t exchanges(const RoundPolicy& policy, wire::Collective collective,
                          std::string& reason) const;
  // Half of a round's time is for the peers, and half for the star that may have to stand in.
  std::uint32_t deadline_ms(wire::Collective collective, std::uint64_t round) const;

  void failed(const RoundPlan& plan);
  void succeeded() { pause_ = 0; }

 private:
  bool due(std::uint64_t round) const { return round >= from_round_; }

  const JobContext& job_;
  std::uint64_t session_ = 0;
  std::string why_not_;
  bool renew_ = false;   // the members may remember different things
  bool broken_ = false;  // an exchange has failed
  std::uint64_t failed_round_ = 0;
  std::uint64_t from_round_ = 0;  // rounds before it go by the star
  std::uint32_t pause_ = 0;       // rounds
};

}  // namespace tributary
