// The heartbeats of one session, both ways: each one carries an echo of the other side's last one,
// which shows what has arrived and how long the round trip takes.
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

  // The next heartbeat. The one after it is due `wait_ns` later.
  wire::HeartbeatT beat(TimeNs now, wire::Activity activity, const RoundKey& round, TimeNs wait_ns);
  // The same as the last one said.
  wire::HeartbeatT beat_again(TimeNs now, TimeNs wait_ns) {
    return beat(now, activity_, round_, wait_ns);
  }
  std::uint64_t sent() const { return sent_; }
  bool due(TimeNs now) const { return now >= due_at_ns_; }
  TimeNs due_at_ns() const { return due_at_ns_; }

  struct Heard {
    std::uint64_t beat = 0;  // of ours that it answers
    std::optional<TimeNs>
        took_ns;  // the round trip; nothing where the other side's times make none
  };
  // Takes the other side's heartbeat. Nothing: it is an old one, or it answers none of ours.
  std::optional<Heard> heard(TimeNs now, const wire::Frame& frame);

 private:
  TimeNs due_at_ns_;
  std::uint64_t sent_ = 0;
  wire::Activity activity_ = wire::Activity::idle;  // as last said, and the round
  RoundKey round_;
  // The other side's last one.
  std::uint64_t echo_count_ = 0;
  std::uint64_t echo_sent_at_ns_ = 0;
  TimeNs echo_heard_at_ns_ = 0;
};

}  // namespace tributary
