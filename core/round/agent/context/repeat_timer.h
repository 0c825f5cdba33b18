// Times the repeats of a request while its answer does not come: every pause is twice the one
// before, within bounds.
//
// The caller asks `due()` and, when it has sent the request again, calls `repeat()`. A timer that
// was never started, or is stopped, is never due.
//
// Threads: one at a time.
#pragma once

#include <algorithm>

#include "core/round/common/session/conversation.h"

namespace tributary {

class RepeatTimer {
 public:
  // Due after `wait_ns`; the pause after that is `pause_ns`.
  void start(TimeNs now, TimeNs wait_ns, TimeNs pause_ns) {
    due_at_ns_ = now + wait_ns;
    pause_ns_ = pause_ns;
  }
  void stop() { due_at_ns_ = kNever; }
  // The pauses stay as they are.
  void set_due(TimeNs at) { due_at_ns_ = at; }
  // The answer is being sent: due one pause from now.
  void postpone(TimeNs now, TimeNs least_ns) { due_at_ns_ = now + std::max(pause_ns_, least_ns); }
  // The request was sent again. The pause is at least `least_ns`; later ones are at most `most_ns`.
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
