// The common part of the transports among fixed members: checks of what is sent, lost members,
// waiting events and counters. Derived classes move the bytes: over TCP (mesh.h), over MPI
// (core/net/mpi) or over another such transport (epoch_mesh.h).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/net/transport.h"

namespace tributary {

// See core/net/transport.h for the contract. Not thread-safe, except wake().
class PeerTransport : public Transport {
 public:
  Status send(ConnectionId to, SharedSlice frame, SharedSlice payload = {}) final;
  const LinkLimits& limits() const final { return limits_; }
  FixedMembers members() const final { return members_; }
  LinkCounters counters() const override { return counters_; }
  std::size_t waiting_bytes() const override;

  // The member's share of waiting_bytes(); 0 for a lost member.
  virtual std::size_t waiting_bytes_for(ConnectionId member) const = 0;
  // Drops the messages for the member that are not being sent yet. Returns their number of bytes.
  virtual std::size_t forget(ConnectionId member) = 0;

 protected:
  // `overhead_bytes` is the number of bytes that a message takes in its member's queue besides its
  // own.
  PeerTransport(const LinkLimits& limits, const FixedMembers& members, std::size_t overhead_bytes)
      : limits_(limits), members_(members), overhead_bytes_(overhead_bytes), lost_(members.count) {}

  // Takes over a message that has passed the checks. send() returns its error.
  virtual Status accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) = 0;

  bool lost(ConnectionId member) const { return lost_[member]; }
  // Queues the event of a received message and counts it.
  void report(Received received);
  // Marks the member as lost and queues its Disconnected. Call it once for each member, after
  // forget().
  void report_lost(std::uint32_t member, const PublicKey& key, Status why,
                   std::size_t unsent_bytes);
  // Queues a refusal of a connection that ended before its member was known.
  void report_refused(std::string source, Status why);
  bool has_event() const { return !events_.empty(); }
  LinkEvent next_event();

  // Counts messages and refusals. Derived classes add connections and bytes on the wire.
  LinkCounters counters_;

 private:
  Status check(ConnectionId to, std::size_t frame_bytes, std::size_t payload_bytes) const;

  const LinkLimits limits_;
  const FixedMembers members_;
  const std::size_t overhead_bytes_;
  std::vector<bool> lost_;
  std::deque<LinkEvent> events_;
};

}  // namespace tributary
