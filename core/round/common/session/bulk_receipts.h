// Which bulk frames of the other side have arrived, and when it is told: by the next frame, or by
// an acknowledgement of its own. A few bytes wait a little for one, so that small payloads share
// it.
#pragma once

#include <cstdint>

#include "core/round/common/machine/events.h"
#include "core/round/common/session/received_ids.h"
#include "core/round/common/session/send_window.h"

namespace tributary {

class BulkReceipts {
 public:
  // A repeat means that the other side does not know of the first: it is told again.
  ReceivedIds::Verdict take(TimeNs now, std::uint64_t number, std::uint64_t bytes);
  // An acknowledgement is due now.
  bool due(TimeNs now);
  // A frame goes out and takes the count with it. Returns the count; 0: it has not changed since
  // the last frame, and need not be said (`always`: it is said all the same).
  std::uint64_t tell(bool always);

  bool asked_again() const { return asked_again_; }
  TimeNs heard_at_ns() const { return heard_at_ns_; }
  TimeNs due_at_ns() const { return due_at_ns_; }

 private:
  ReceivedIds received_;
  std::uint64_t told_ = 0;  // the last number that the other side was told has arrived
  std::uint64_t untold_bytes_ = 0;
  bool asked_again_ = false;
  TimeNs heard_at_ns_ = 0;
  TimeNs due_at_ns_ = INT64_MAX;
};

}  // namespace tributary
