// What transports among fixed members have in common: the checks of what is sent, the members that
// are lost, the events that wait to be told, and the counters. What derives from it moves the
// bytes: over TCP (mesh.h), over MPI (core/net/mpi), or over another one of these (epoch_mesh.h).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/net/transport.h"

namespace tributary {

class PeerTransport : public Transport {
 public:
  Status send(ConnectionId to, SharedSlice frame, SharedSlice payload = {}) final;
  const LinkLimits& limits() const final { return limits_; }
  FixedMembers members() const final { return members_; }
  LinkCounters counters() const override { return counters_; }
  std::size_t waiting_bytes() const override;

  // The member's part of waiting_bytes(); of a member that is lost, 0.
  virtual std::size_t waiting_bytes_for(ConnectionId member) const = 0;
  // Drops what waits for the member and is not yet on its way. Returns how many bytes.
  virtual std::size_t forget(ConnectionId member) = 0;

 protected:
  // A message takes `overhead_bytes` in its member's queue besides its own.
  PeerTransport(const LinkLimits& limits, const FixedMembers& members, std::size_t overhead_bytes)
      : limits_(limits), members_(members), overhead_bytes_(overhead_bytes), lost_(members.count) {}

  // The message has passed the checks. An error is returned by send().
  virtual Status accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) = 0;

  bool lost(ConnectionId member) const { return lost_[member]; }
  void tell(Received received);
  // Once for each member, after it was forgotten.
  void tell_lost(std::uint32_t member, const PublicKey& key, Status why, std::size_t unsent_bytes);
  // A connection that ended before it had said whose it is.
  void tell_refused(std::string source, Status why);
  bool has_event() const { return !events_.empty(); }
  LinkEvent next_event();

  // Of messages and refusals; what derives from this adds connections and bytes on the wire.
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
