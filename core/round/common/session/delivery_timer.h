// Measures how long bulk payloads take to the other side: from the sending of the first byte to the
// acknowledgement of the last.
//
// Nothing is acknowledged before it has crossed the link. A late acknowledgement, a sender that
// waits and a queue only add time, so they make the link look slower, never faster. The sender is
// therefore timed in runs: a run begins with a part that is sent over an idle link, or after the
// sender had nothing to send. A run may wait for the parts of the run before it.
//
// Pure: every call gets the time. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "core/round/common/machine/events.h"

namespace tributary {

// Bytes that were sent without a pause, and their time.
struct Delivery {
  std::uint64_t bytes = 0;
  TimeNs took_ns = 0;        // with the round trip
  TimeNs round_trip_ns = 0;  // the least of the link

  // Most of the time was not the round trip, so its error matters little. Otherwise the time per
  // byte is only an upper bound.
  bool measures_rate() const { return took_ns >= 2 * round_trip_ns; }
  // A link may carry fewer bytes in one burst, before its rate limits them.
  bool is_large() const { return bytes >= kLargeBytes; }
  double s_per_byte() const;

  // The amount after which peers measure one another as well (core/net/arrival_timer.h).
  static constexpr std::uint64_t kLargeBytes = 64 * 1024;
};

class DeliveryTimer {
 public:
  // Fewer bytes are not measured: the other side waits up to 25 ms for more before it acknowledges
  // less than 8 KiB (bulk_receipts.h).
  static constexpr std::uint64_t kBytesMin = 16 * 1024;

  // The part of a run that ends with a certain payload part. The caller keeps it until that part is
  // acknowledged.
  struct Run {
    TimeNs began_ns = 0;
    std::uint64_t bytes = 0;
  };

  // Records the sending of a part. `idle`: nothing else is in flight.
  Run sent(TimeNs now, std::uint64_t bytes, bool idle);
  // Nothing is left to send: the next part begins a run.
  void nothing_to_send() { paused_ = true; }
  // Records the first acknowledgement of a part. `round_trip_min_ns`: 0 if it is unknown, and the
  // part is then not measured.
  void acknowledged(TimeNs now, const Run& run, TimeNs round_trip_min_ns);

  // Returns the fastest measurement since the previous call, of the large ones if there are any.
  // Empty: none was possible.
  std::optional<Delivery> take();

 private:
  Run run_;
  bool paused_ = true;
  std::optional<Delivery> best_;
};

}  // namespace tributary
