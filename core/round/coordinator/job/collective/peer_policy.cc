#include "core/round/coordinator/job/collective/peer_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/net/mesh/reach_group.h"

namespace tributary {
namespace {

// Every peer connects to every other, so the number of connections grows with the square.
constexpr std::size_t kPeersMax = 256;

// Empty if the addresses show no obstacle.
std::string why_peers_unreachable(std::span<const Membership::Member> members) {
  std::optional<ReachGroup> group;
  for (const Membership::Member& member : members) {
    if (member.endpoint.empty()) return member.agent_id + " has no address for peers";
    const Result<ReachGroup> own = reach_group(member.endpoint);
    if (!own.ok()) return member.agent_id + " has an invalid address for peers";
    if (group && *group != *own) {
      return fmt::format("{} and {} are not in {}", members[0].agent_id, member.agent_id,
                         kReachGroupName);
    }
    group = *own;
  }
  return {};
}

}  // namespace

// Each epoch has its own session number of the peer links. 0 means that the members cannot connect
// to one another, and why_not_ then has the reason.
void PeerPolicy::open(const Membership& membership) {
  session_ = 0;
  broken_ = renew_ = false;
  why_not_.clear();
  const RoundPolicy& policy = job_.policy();
  const bool needs_none = policy.collective == wire::Collective::star ||
                          policy.collective == wire::Collective::in_network;
  if (needs_none && !policy.planning.planned()) return;
  if (membership.size() < 2) {
    why_not_ = "there is only one agent";
  } else if (membership.size() > kPeersMax) {
    why_not_ = fmt::format("there are more than {} agents", kPeersMax);
  } else {
    why_not_ = why_peers_unreachable(membership.members());
    if (why_not_.empty()) session_ = job_.coordinator.draw();
  }
}

wire::Collective PeerPolicy::choose(const RoundPolicy& policy, const Participants& participants,
                                    std::uint64_t round, std::string& reason) const {
  if (policy.collective == wire::Collective::star) return policy.collective;
  if (session_ == 0) {
    reason = "Use the star: " + why_not_;
  } else if (!due(round)) {
    reason = fmt::format("Use the star: the {} failed and is tried again in round {}",
                         wire::EnumNameCollective(policy.collective), pause_.from_round());
  } else if (participants.prompt < std::max(2u, policy.agents_min)) {
    reason = participants.some_late ? "Use the star: too many agents are late"
                                    : "Use the star: only one agent takes part";
  } else if (participants.some_late && round % kLateRounds == 0) {
    reason = "Use the star: late agents can only contribute by the star, every fourth round";
  } else {
    return policy.collective;
  }
  return wire::Collective::star;
}

void PeerPolicy::failed(const RoundPlan& plan) {
  pause_.failed(plan.key().round);
  broken_ = true;
  // After a failure between two exchanges the members may hold different residuals and encoders.
  renew_ = plan.exchanges() > 1;
}

}  // namespace tributary
