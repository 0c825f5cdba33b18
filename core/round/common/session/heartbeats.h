// The heartbeats of one session in both directions. Each heartbeat echoes the last one of the other
// side, which shows which messages have arrived and how long the round trip takes. Not thread-safe.
//
// Pure: every call gets the time, and the caller sends what beat() returns. Times of the other side
// are only echoed and never compared with this side's clock.
#pragma once

#include <cstdint>
#include <optional>

#include "core/round/common/machine/events.h"
#include "core/round/common/machine/round_key.h"
#include "schemas/frame.h"

namespace tributary {

class Heartbeats {
 public:
  explicit Heartbeats(TimeNs first_at_ns) : due_at_ns_(first_at_ns) {}

  // Makes the next heartbeat. The following one is due after `wait_ns`.
  wire::HeartbeatT beat(TimeNs now, wire::Activity activity, const RoundKey& round, TimeNs wait_ns);
  // Makes a heartbeat with the activity and the round of the last one.
  wire::HeartbeatT beat_again(TimeNs now, TimeNs wait_ns) {
    return beat(now, activity_, round_, wait_ns);
  }
  std::uint64_t sent() const { return sent_; }
  bool due(TimeNs now) const { return now >= due_at_ns_; }
  TimeNs due_at_ns() const { return due_at_ns_; }

  struct Answer {
    std::uint64_t beat = 0;  // the heartbeat of this side that it answers
    // The round trip; empty if the other side's times are impossible.
    std::optional<TimeNs> took_ns;
  };
  // Handles a heartbeat of the other side. Empty if it is an old one or answers none of this side.
  std::optional<Answer> receive(TimeNs now, const wire::Frame& frame);

 private:
  TimeNs due_at_ns_;
  std::uint64_t sent_ = 0;
  wire::Activity activity_ = wire::Activity::idle;  // as last sent, like the round
  RoundKey round_;
  // The last heartbeat of the other side.
  std::uint64_t echo_count_ = 0;
  std::uint64_t echo_sent_at_ns_ = 0;
  TimeNs echo_received_at_ns_ = 0;
};

}  // namespace tributary
