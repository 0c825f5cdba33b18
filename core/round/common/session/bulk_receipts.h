// The bulk frames that have arrived in a session, and the time at which to acknowledge them. Any
// outgoing frame can carry the acknowledgement. If none is sent, a separate one follows at once
// after 8 KiB, or after 25 ms, so that small payloads share one acknowledgement. Not thread-safe.
#pragma once

#include <cstdint>

#include "core/round/common/machine/events.h"
#include "core/round/common/session/received_ids.h"
#include "core/round/common/session/send_window.h"

namespace tributary {

class BulkReceipts {
 public:
  // Records an arrived frame. A repeat shows that the other side has not received the
  // acknowledgement, so it is due again.
  ReceivedIds::Verdict take(TimeNs now, std::uint64_t number, std::uint64_t bytes);
  // True if a separate acknowledgement is due now. Otherwise due_at_ns() is the time at which it
  // will be.
  bool due(TimeNs now);
  // Returns the count that an outgoing frame carries. 0 means that the count need not be sent,
  // because it has not changed since the last frame; `always` sends it in any case.
  std::uint64_t report(bool always);

  // True if a repeat arrived since the last acknowledgement.
  bool asked_again() const { return asked_again_; }
  TimeNs last_arrival_ns() const { return last_arrival_ns_; }
  TimeNs due_at_ns() const { return due_at_ns_; }

 private:
  ReceivedIds received_;
  std::uint64_t reported_ = 0;  // the last count that was sent to the other side
  // Bytes that arrived since then.
  std::uint64_t untold_bytes_ = 0;
  bool asked_again_ = false;
  TimeNs last_arrival_ns_ = 0;
  TimeNs due_at_ns_ = INT64_MAX;
};

}  // namespace tributary
