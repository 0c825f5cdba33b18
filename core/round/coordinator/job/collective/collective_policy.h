// Decides for each attempt which collective the participants use: the job's or the planner's, or
// the star if that one is not possible now. PeerPolicy and NetworkPolicy know when it is. `job`
// must outlive the object. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/round/coordinator/job/collective/network_policy.h"
#include "core/round/coordinator/job/collective/peer_policy.h"

namespace tributary {

class CollectivePolicy {
 public:
  explicit CollectivePolicy(const JobContext& job) : job_(job), peers_(job), network_(job) {}

  NetworkPolicy& network() { return network_; }
  const NetworkPolicy& network() const { return network_; }
  // Number of the members' connections in this epoch; 0: they cannot reach one another.
  std::uint64_t peer_session() const { return peers_.session(); }
  bool peers_reachable(std::uint64_t round) const { return peers_.reachable(round); }

  // An epoch of the members begins.
  void open(const Membership& membership) { peers_.open(membership); }
  // True if a failed exchange requires a new epoch of the members before this round.
  bool needs_epoch(std::uint64_t round) const { return peers_.needs_epoch(round); }

  // The collective of an attempt at this round. `reason` is replaced if the star stands in.
  wire::Collective choose(const RoundPolicy& policy, const PeerPolicy::Participants& participants,
                          std::uint64_t round, std::string& reason) const {
    if (policy.collective != wire::Collective::in_network) {
      return peers_.choose(policy, participants, round, reason);
    }
    return network_.choose(participants, round, reason);
  }
  // The number of exchanges in a round: only members among themselves can have several.
  static std::uint32_t exchanges(const RoundPolicy& policy, wire::Collective collective) {
    const bool one =
        collective == wire::Collective::star || collective == wire::Collective::in_network;
    return one ? 1 : policy.exchanges_per_round;
  }
  // An exchange that can fail as a whole gets half of the round's time, so that the star has the
  // other half.
  std::uint32_t deadline_ms(wire::Collective collective, std::uint64_t round) const {
    const std::uint32_t whole = job_.policy().deadline_ms;
    const bool half =
        collective != wire::Collective::star || peers_.stood_in(round) || network_.stood_in(round);
    return half ? std::max(whole / 2, 1u) : whole;
  }

  // Records how an attempt without the star has ended. A new epoch of the aggregator is due after
  // every attempt through it that failed, for whatever reason: slots hold parts of its sums.
  void failed(const RoundPlan& plan) {
    if (plan.in_network()) return network_.failed(plan.key().round);
    peers_.failed(plan);
  }
  // An attempt in the network was given up because participants were late.
  void left_some_out() { network_.left_some_out(); }
  void succeeded(const RoundPlan& plan) {
    if (plan.in_network()) return network_.succeeded();
    if (plan.by_peers()) peers_.succeeded();
  }

 private:
  const JobContext& job_;
  PeerPolicy peers_;
  NetworkPolicy network_;
};

}  // namespace tributary
