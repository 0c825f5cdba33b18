// How many bulk bytes one session may have under way, and how long the parts of its payloads are.
//
// Both follow what the link has shown: the window is near the product of its rate and its round
// trip, plus one part, so that the link never idles and a control message never waits long behind
// bulk. Rates come from acknowledgements of bulk frames, round trips from small messages alone:
// what a bulk frame takes on the link is not known before the link's rate is.
//
// Threads: one at a time. Pure: time is a number that comes with each call.
#pragma once

#include <cstdint>
#include <deque>

#include "core/round/common/machine/events.h"

namespace tributary {

class SendWindow {
 public:
  // Parts of a link that nobody has measured, and of the slowest ones. Shorter parts would cost
  // more than 2 % in headers.
  static constexpr std::uint32_t kPartBytesMin = 16u << 10;

  struct Limits {
    std::uint32_t part_bytes_max = 4u << 20;
    std::uint64_t window_bytes_max = 64u << 20;
  };

  // What the window has to know of a frame when it is acknowledged. The caller keeps it until then.
  struct Sent {
    TimeNs at_ns = 0;
    std::uint32_t bytes = 0;
    std::uint64_t delivered = 0;      // bytes that had arrived when this was sent
    TimeNs delivered_at_ns = 0;       // and when that was known
    TimeNs delivered_sent_at_ns = 0;  // and when the last of them was sent
    bool starved = false;             // the sender had too little to send to fill the link
  };

  void set_limits(const Limits& limits) { limits_ = limits; }

  // Whether another part may be sent now.
  bool open(TimeNs now) const;
  // How long the next part should be.
  std::uint32_t part_bytes() const;
  std::uint32_t part_bytes_max() const { return limits_.part_bytes_max; }

  Sent sent(TimeNs now, std::uint32_t bytes);
  // In the order in which they were sent. What was sent again tells nothing of the link.
  void acknowledged(TimeNs now, const Sent& sent, bool repeated = false);
  // Nothing is left to send although the window is open: from here on the link is not full.
  void nothing_to_send();
  // Nothing is under way, and that was last so long ago: a small message that is sent now, before
  // the next part, shows the round trip.
  bool wants_round_trip(TimeNs now) const;
  // Such a message is sent now.
  void round_trip_sought(TimeNs now) { clean_at_ns_ = now; }
  // The round trip of a small message.
  void round_trip(TimeNs now, TimeNs took_ns);

  std::uint64_t bytes_under_way() const { return under_way_; }
  double bytes_per_s() const;                // of the link; 0: not known yet
  bool filling() const { return filling_; }  // the link may be faster than has been seen
  TimeNs round_trip_min_ns() const;          // 0: not known yet

 private:
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
  std::uint64_t starved_until_ = 0;  // delivered bytes up to which samples are of a starved sender
  std::deque<RateSample> rates_;     // falling: the first is the highest

  // The least of two spans of time, this one and the one before.
  TimeNs span_began_ns_ = 0;
  TimeNs least_ns_ = 0;  // 0: none
  TimeNs least_before_ns_ = 0;
  TimeNs clean_at_ns_ = 0;  // when nothing was under way, at the last look at the round trip

  // While the link has not been filled yet, the window grows faster.
  bool filling_ = true;
  double filled_rate_ = 0;
  std::uint64_t filled_round_ends_ = 0;  // delivered bytes at which the next look is due
  int rounds_without_growth_ = 0;
};

}  // namespace tributary
