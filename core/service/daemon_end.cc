#include "core/service/daemon_end.h"

#include <utility>

namespace tributary {

void DaemonEnd::stop(TimeNs now) {
  stopping_ = true;
  stop_at_ns_ = now + grace_ns_;
}

void DaemonEnd::look(TimeNs now, bool idle) {
  if (stopping_ && (idle || now >= stop_at_ns_)) finished_ = true;
}

void DaemonEnd::finish(Status status) {
  finished_ = true;
  status_ = std::move(status);
}

void DaemonEnd::fail(Status status) { status_ = std::move(status); }

}  // namespace tributary
