// One direction of a link: decides what becomes of each message, and when it arrives. Messages keep
// their order, as they do over a connection, except where reordering is asked for.
#pragma once

#include <array>
#include <cstdint>

#include "core/round/events.h"
#include "core/sim/draws.h"
#include "core/sim/scenario.h"

namespace tributary {

struct LinkTally {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;
  std::uint64_t cut_off = 0;  // by a partition
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t flipped = 0;
  std::uint64_t slowed = 0;
};

// What happens to one message.
struct Passage {
  int copies = 0;
  std::array<TimeNs, 2> arrives_at_ns = {};
  bool flip = false;  // a bit of the first copy
};

class Link {
 public:
  Link(const NetworkSettings& settings, Draws draws) : settings_(settings), draws_(draws) {}

  // With `faulty` false nothing but delay and rate.
  Passage pass(TimeNs now, std::size_t bytes, bool faulty, LinkTally& tally);

  void cut_until(TimeNs until) { cut_until_ns_ = std::max(cut_until_ns_, until); }
  void slow_until(TimeNs until, TimeNs delay_ns);
  bool cut(TimeNs now) const { return now < cut_until_ns_; }
  TimeNs cut_until_ns() const { return cut_until_ns_; }
  // Ends what is wrong with it.
  void mend() { cut_until_ns_ = slow_until_ns_ = 0; }
  Draws& draws() { return draws_; }

 private:
  TimeNs delay_ns(TimeNs now, LinkTally& tally);

  const NetworkSettings& settings_;
  Draws draws_;
  TimeNs busy_until_ns_ = 0;
  TimeNs last_arrival_ns_ = 0;
  TimeNs cut_until_ns_ = 0;
  TimeNs slow_until_ns_ = 0;
  TimeNs slow_delay_ns_ = 0;
};

// A time drawn from the span.
TimeNs draw_ns(const SpanMs& span, Draws& draws);

}  // namespace tributary
