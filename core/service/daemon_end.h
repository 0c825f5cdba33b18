// Decides when a daemon ends: after an error, when its machine has finished, or at most `grace_ns`
// after it was asked to stop. It reads no clock: the caller passes in times. Not thread-safe.
//
// Ending is final. The daemon's loop calls look() and leaves when ended() is true; status() is then
// the daemon's result.
#pragma once

#include "core/base/status.h"
#include "core/round/common/machine/events.h"

namespace tributary {

class DaemonEnd {
 public:
  // After stop(), the machine has `grace_ns` to become idle.
  explicit DaemonEnd(TimeNs grace_ns) : grace_ns_(grace_ns) {}

  void stop(TimeNs now);
  bool stopping() const { return stopping_; }
  // Call it regularly. A daemon that was asked to stop ends when its machine is idle or the grace
  // time has passed.
  void look(TimeNs now, bool idle);
  // Ends the daemon at once. An error in `status` is the reason.
  void finish(Status status);
  // Ends the daemon if `status` is an error.
  void fail(Status status);

  bool ended() const { return finished_ || !status_.ok(); }
  const Status& status() const { return status_; }

 private:
  const TimeNs grace_ns_;
  bool stopping_ = false;
  TimeNs stop_at_ns_ = kNever;
  bool finished_ = false;
  Status status_;
};

}  // namespace tributary
