// An agent's membership in the epoch of its job, and the peers that it exchanges with directly:
// which of them are lost, and what they have sent for an exchange that has not begun here.
//
// Messages for later take a few models of memory at most; a member that sends more counts as lost.
// The host opens and closes the connections. The replica is borrowed and only read.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/exchange/peer_round.h"
#include "core/round/agent/replica/replica.h"

namespace tributary {

class AgentPeers {
 public:
  AgentPeers(AgentContext& context, const Replica& replica)
      : context_(context), replica_(replica) {}

  // A newer epoch replaces the one before, with its peers; others are ignored.
  void join(const wire::Membership& membership);
  // The job is another: it has no epoch yet.
  void leave();

  std::uint32_t epoch() const { return epoch_; }
  std::uint32_t member() const { return member_; }  // this agent's place in the epoch

  // An error where a participant of the plan cannot be reached.
  Status check(const RoundPlan& plan) const;
  bool is_current(std::uint64_t session) const { return session == group_.session(); }
  std::uint64_t session() const { return group_.session(); }
  void lost(std::uint32_t member, std::string why) { group_.lost(member, std::move(why)); }

  // Keeps a message until its exchange begins here, if it ever does.
  void keep(std::uint32_t from, ByteSpan frame, SharedSlice payload);
  std::deque<PeerGroup::Early> take_kept() { return group_.take_early(); }
  std::uint64_t bytes() const { return group_.bytes(); }

  // Shared by exchanges of the same codecs.
  ExchangeCache& cache_of(const RoundPlan& plan) { return cache_.of(plan); }
  // It remembers an exchange that came to nothing.
  void clear_cache() { cache_.clear(); }

 private:
  void open(const wire::Membership& membership);
  void close();

  AgentContext& context_;
  const Replica& replica_;
  std::uint32_t epoch_ = 0;
  std::uint32_t member_ = 0;
  PeerGroup group_;
  PeerExchangeCache cache_;
};

// An exchange with these members cannot be done; the coordinator plans the next attempt without it.
Status unreachable_peer(std::string what, std::string got);

}  // namespace tributary
