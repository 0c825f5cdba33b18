#include "core/sim/link.h"

#include <algorithm>

namespace tributary {

TimeNs draw_ns(const SpanMs& span, Draws& draws) {
  const double ms = span.low + (span.high - span.low) * draws.uniform();
  return static_cast<TimeNs>(ms * 1e6);
}

void Link::slow_until(TimeNs until, TimeNs delay_ns) {
  slow_until_ns_ = until;
  slow_delay_ns_ = delay_ns;
}

TimeNs Link::delay_ns(TimeNs now, LinkTally& tally) {
  TimeNs delay = draw_ns(settings_.delay, draws_);
  if (now < slow_until_ns_) {
    ++tally.slowed;
    delay += static_cast<TimeNs>(static_cast<double>(slow_delay_ns_) * draws_.uniform());
  }
  return delay;
}

Passage Link::pass(TimeNs now, std::size_t bytes, bool faulty, LinkTally& tally) {
  ++tally.messages;
  tally.bytes += bytes;
  if (cut(now)) {
    ++tally.cut_off;
    return {};
  }
  const double wire_ns = static_cast<double>(bytes) * 8e3 / settings_.rate_mbit_s;
  busy_until_ns_ = std::max(busy_until_ns_, now) + static_cast<TimeNs>(wire_ns);
  if (faulty && draws_.chance(settings_.loss)) {
    ++tally.lost;
    return {};
  }
  Passage passage;
  passage.copies = 1;
  TimeNs arrival = busy_until_ns_ + delay_ns(now, tally);
  if (faulty && draws_.chance(settings_.reordering)) {
    // Later than several that were sent after it, which do not wait for it.
    ++tally.reordered;
    arrival += 4 * draw_ns(settings_.delay, draws_);
  } else {
    arrival = last_arrival_ns_ = std::max(arrival, last_arrival_ns_);
  }
  passage.arrives_at_ns[0] = arrival;
  if (faulty && draws_.chance(settings_.duplication)) {
    ++tally.duplicated;
    passage.copies = 2;
    passage.arrives_at_ns[1] = arrival + draw_ns({0, 4 * settings_.delay.high}, draws_);
  }
  if (faulty && draws_.chance(settings_.bit_flips)) {
    ++tally.flipped;
    passage.flip = true;
  }
  return passage;
}

}  // namespace tributary
