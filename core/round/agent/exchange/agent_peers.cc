#include "core/round/agent/exchange/agent_peers.h"

#include <fmt/format.h>

#include <utility>

namespace tributary {
namespace {

// Limit for messages of members whose rounds are ahead of this agent's.
constexpr std::uint64_t kEarlyModelsMax = 4;
constexpr std::uint64_t kEarlyFixedBytes = 4u << 20;

}  // namespace

Status unreachable_peer(std::string what, std::string got) {
  return Status(StatusCode::unavailable, {.what = std::move(what),
                                          .expected = "a connection to every member",
                                          .got = std::move(got),
                                          .remedy = "this round uses the coordinator"});
}

// Numbers of epochs only grow. A repeat and an older membership have no effect.
void AgentPeers::join(const wire::Membership& membership) {
  if (membership.epoch() <= epoch_) return;
  epoch_ = membership.epoch();
  member_ = membership.agent_index();
  if (membership.peer_session() == 0 || !membership.members()) return close();
  open(membership);
}

void AgentPeers::leave() {
  close();
  epoch_ = 0;
}

void AgentPeers::open(const wire::Membership& membership) {
  group_ = PeerGroup(membership.epoch(), membership.peer_session());
  OpenPeers open{
      .session = membership.peer_session(), .member = membership.agent_index(), .members = {}};
  for (const wire::Member* member : *membership.members()) {
    OpenPeers::Member& peer = open.members.emplace_back();
    if (member->agent_id()) peer.agent_id = member->agent_id()->str();
    if (const auto* key = member->public_key()) peer.public_key.assign(key->begin(), key->end());
    if (member->endpoints() && member->endpoints()->size() > 0) {
      peer.endpoint = member->endpoints()->Get(0)->address()->str();
    }
  }
  context_.out.add(std::move(open));
}

// The buffers of the cache belong to the old epoch's routes. They go with it, so that an agent
// without peers holds no memory for exchanges.
void AgentPeers::close() {
  if (group_.session() != 0) context_.out.add(ClosePeers{});
  group_ = {};
  cache_.clear();
}

// An exchange needs every participant, so it does not begin if the connection to one of them is
// known to be lost.
Status AgentPeers::check(const RoundPlan& plan) const {
  if (!group_.of(plan.key().epoch)) return unreachable_peer("peers of the epoch", "none");
  for (const auto& [member, why] : group_.lost()) {
    if (plan.rank(member)) return unreachable_peer(fmt::format("member {}", member), why);
  }
  return {};
}

void AgentPeers::keep(std::uint32_t from, ByteSpan frame, SharedSlice payload) {
  const std::uint64_t values = replica_.job() ? replica_.job()->values() : 0;
  const std::uint64_t bytes_max = kEarlyFixedBytes + kEarlyModelsMax * sizeof(float) * values;
  if (group_.keep(from, frame, std::move(payload), bytes_max)) return;
  // The exchange cannot complete any more, so its messages are of no use.
  group_.take_early();
  group_.lost(from, "it sends more than this agent can hold");
  context_.out.note(LogLevel::warning, "peer_ahead", "resource_exhausted",
                    fmt::format("more than {} bytes from members that are ahead", bytes_max));
}

}  // namespace tributary
