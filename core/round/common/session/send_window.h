// Decides how many bulk bytes a session may have in flight, and how long the parts of its payloads
// are.
//
// Both follow the measured link. The window is close to rate times round trip, plus one part, so
// that the link is never idle and a control message never waits long behind bulk. Rates are
// measured from acknowledgements of bulk frames. Round trips are measured only from small messages,
// because the time of a bulk frame on the link is unknown until the rate is known.
//
// Pure: every call gets the time. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>

#include "core/round/common/machine/events.h"

namespace tributary {

class SendWindow {
 public:
  // Length of parts in bytes on a link that has not been measured, and on the slowest links.
  // Shorter parts would cost more than 2 % in headers.
  static constexpr std::uint32_t kPartBytesMin = 16u << 10;

  // Upper bounds in bytes, from the coordinator's configuration or its plan.
  struct Limits {
    std::uint32_t part_bytes_max = 4u << 20;
    std::uint64_t window_bytes_max = 64u << 20;
  };

  // The state at the sending of a frame, from which its acknowledgement yields a rate. The caller
  // keeps it until then.
  struct Sent {
    TimeNs at_ns = 0;
    std::uint32_t bytes = 0;
    std::uint64_t delivered = 0;      // bytes that had arrived when this was sent
    TimeNs delivered_at_ns = 0;       // when their arrival was known
    TimeNs delivered_sent_at_ns = 0;  // when the last of them was sent
    bool starved = false;             // the sender had too few bytes to fill the link
  };

  void set_limits(const Limits& limits) { limits_ = limits; }

  // True if another part may be sent now.
  bool open(TimeNs now) const;
  // Length of the next part.
  std::uint32_t part_bytes() const;
  std::uint32_t part_bytes_max() const { return limits_.part_bytes_max; }

  // Records the sending of a part.
  Sent sent(TimeNs now, std::uint32_t bytes);
  // Records an acknowledgement, in the order of sending. A repeated part yields no measurement.
  void acknowledged(TimeNs now, const Sent& sent, bool repeated = false);
  // Records that nothing is left to send although the window is open: from now on the link is not
  // full.
  void nothing_to_send();
  // True if nothing is in flight and the round trip was last measured too long ago. A small message
  // that is sent now, before the next part, measures it.
  bool needs_round_trip(TimeNs now) const;
  // Records that such a message is sent now.
  void round_trip_sought(TimeNs now) { clean_at_ns_ = now; }
  // Records the measured round trip of a small message.
  void round_trip(TimeNs now, TimeNs took_ns);

  std::uint64_t bytes_under_way() const { return under_way_; }
  double bytes_per_s() const;                // of the link; 0: unknown
  bool filling() const { return filling_; }  // the link may be faster than any rate measured so far
  TimeNs round_trip_min_ns() const;          // 0: unknown

 private:
  // A measured rate and its time.
  struct RateSample {
    TimeNs at_ns = 0;
    double bytes_per_s = 0;
  };

  std::uint64_t window_bytes() const;
  void look_whether_full(TimeNs now, const Sent& sent);
  void add_rate(TimeNs now, double bytes_per_s);
  void add_round_trip(TimeNs now, TimeNs took_ns);

  Limits limits_;
  std::uint64_t under_way_ = 0;
  std::uint64_t delivered_ = 0;
  TimeNs delivered_at_ns_ = 0;
  TimeNs delivered_sent_at_ns_ = 0;
  // Number of delivered bytes up to which samples are of a starved sender.
  std::uint64_t starved_until_ = 0;
  std::deque<RateSample> rates_;  // descending: the first is the highest

  // The minimum round trips of two spans of time, the current one and the one before.
  TimeNs span_began_ns_ = 0;
  TimeNs least_ns_ = 0;  // 0: none
  TimeNs least_before_ns_ = 0;
  TimeNs clean_at_ns_ = 0;  // when nothing was in flight at the last measurement of a round trip

  // Until the link has been filled once, the window grows faster.
  bool filling_ = true;
  double filled_rate_ = 0;
  std::uint64_t filled_round_ends_ = 0;  // number of delivered bytes at which the next check is due
  int rounds_without_growth_ = 0;
};

}  // namespace tributary
