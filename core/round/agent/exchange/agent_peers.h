// An agent's membership in the epoch of its job, and its peers: the members that are lost, and the
// messages of exchanges that have not begun here.
//
// All early messages together take at most four models plus 4 MiB of memory. The member whose
// message exceeds the limit counts as lost. The host opens and closes the connections. The replica
// is borrowed and only read. Not thread-safe.
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

  // Joins an epoch. A newer epoch replaces the current one and its peers; an older one is ignored.
  void join(const wire::Membership& membership);
  // The job has changed: the agent has no epoch yet.
  void leave();

  std::uint32_t epoch() const { return epoch_; }
  std::uint32_t member() const { return member_; }  // this agent's index in the epoch

  // Returns unavailable if a participant of the plan cannot be reached.
  Status check(const RoundPlan& plan) const;
  // True for the session of the current epoch's connections.
  bool is_current(std::uint64_t session) const { return session == group_.session(); }
  std::uint64_t session() const { return group_.session(); }
  // Records that a member cannot be reached.
  void lost(std::uint32_t member, std::string why) { group_.lost(member, std::move(why)); }

  // Keeps a message until its exchange begins here.
  void keep(std::uint32_t from, ByteSpan frame, SharedSlice payload);
  // Removes and returns all kept messages.
  std::deque<PeerGroup::Early> take_kept() { return group_.take_early(); }
  std::uint64_t bytes() const { return group_.bytes(); }

  // The cache that exchanges with the same codecs share.
  ExchangeCache& cache_of(const RoundPlan& plan) { return cache_.of(plan); }
  // Must be called after a failed exchange, because the cache may contain its results.
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

// The error of an exchange with a member that cannot be reached. The coordinator plans the next
// attempt without peers.
Status unreachable_peer(std::string what, std::string got);

}  // namespace tributary
