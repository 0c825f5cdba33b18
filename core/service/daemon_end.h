// When a daemon ends: after an error, when its machine has finished, or some time after it was
// asked to stop. Pure: times are handed in.
#pragma once

#include "core/base/status.h"
#include "core/round/common/machine/events.h"

namespace tributary {

class DaemonEnd {
 public:
  // From being asked to stop, the machine has so long to come to rest.
  explicit DaemonEnd(TimeNs grace_ns) : grace_ns_(grace_ns) {}

  void stop(TimeNs now);
  bool stopping() const { return stopping_; }
  // To be called now and then: a daemon that was asked to stop ends when its machine is idle.
  void look(TimeNs now, bool idle);
  // At once; a status that is not ok is why.
  void finish(Status status);
  // Ends the daemon where it is an error.
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
