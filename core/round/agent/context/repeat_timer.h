// Times the repeats of a request without an answer: each pause is twice the previous one, within
// limits.
//
// The caller checks `due()` and calls `repeat()` after it has sent the request again. A timer that
// was never started, or was stopped, is never due. Not thread-safe.
#pragma once

#include <algorithm>

#include "core/round/common/session/conversation.h"

namespace tributary {

class RepeatTimer {
 public:
  // Due after `wait_ns`; the next pause is `pause_ns`.
  void start(TimeNs now, TimeNs wait_ns, TimeNs pause_ns) {
    due_at_ns_ = now + wait_ns;
    pause_ns_ = pause_ns;
  }
  void stop() { due_at_ns_ = kNever; }
  // Sets the time without changing the pauses.
  void set_due(TimeNs at) { due_at_ns_ = at; }
  // The answer is being received: due one pause from now.
  void postpone(TimeNs now, TimeNs least_ns) { due_at_ns_ = now + std::max(pause_ns_, least_ns); }
  // The request was sent again. This pause is at least `least_ns`; later ones are at most
  // `most_ns`.
  void repeat(TimeNs now, TimeNs least_ns, TimeNs most_ns) {
    const TimeNs pause = std::max(pause_ns_, least_ns);
    due_at_ns_ = now + pause;
    pause_ns_ = std::min(2 * pause, most_ns);
  }

  bool running() const { return due_at_ns_ != kNever; }
  bool due(TimeNs now) const { return now >= due_at_ns_; }
  TimeNs due_at_ns() const { return due_at_ns_; }

 private:
  TimeNs due_at_ns_ = kNever;
  TimeNs pause_ns_ = 0;
};

}  // namespace tributary
