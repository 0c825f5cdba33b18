#include "core/sim/link/link.h"

#include <algorithm>

namespace tributary {

AgentLinks agent_links(const NetworkSettings& settings, std::uint64_t seed, std::uint32_t agent) {
  SeededDraws draws(seed, DrawUse::rates, agent);
  const auto draw_rate = [&](const std::optional<Span>& span) {
    return span ? draw_log_uniform(*span, draws) : settings.rate_mbit_s;
  };
  const double up_mbit_s = draw_rate(settings.rate_up_mbit_s);
  const double down_mbit_s = draw_rate(settings.rate_down_mbit_s);
  const TimeNs own_delay_ns = draw_ns(settings.agent_delay, draws);
  const std::uint64_t place = draws.bits();  // place in the trace at which the agent starts
  const auto rate_of = [&](double mbit_s) {
    if (settings.trace) {
      const auto lasts = static_cast<std::uint64_t>(settings.trace->lasts().count());
      return LinkRate(settings.trace, static_cast<TimeNs>(place % lasts));
    }
    if (settings.rate_steps.empty()) return LinkRate(mbit_s);
    // Both directions use the same draws, so that they change at the same time.
    return LinkRate(mbit_s, settings.rate_steps, SeededDraws(seed, DrawUse::rate_steps, agent));
  };
  return {.up = Link(settings, SeededDraws(seed, DrawUse::link_up, agent), rate_of(up_mbit_s),
                     own_delay_ns),
          .down = Link(settings, SeededDraws(seed, DrawUse::link_down, agent), rate_of(down_mbit_s),
                       own_delay_ns)};
}

// The new delay replaces an earlier one.
void Link::slow_until(TimeNs until, TimeNs delay_ns) {
  slow_until_ns_ = until;
  slow_delay_ns_ = delay_ns;
}

// On a stream, the queue and the messages in flight are delayed by the part of the cut that was not
// planned before.
void Link::cut(TimeNs now, TimeNs until) {
  if (settings_.stream) {
    const TimeNs more = std::max<TimeNs>(0, until - std::max(now, cut_until_ns_));
    held_up_ns_ += more;
    if (busy_until_ns_ > now) busy_until_ns_ += more;
    if (last_arrival_ns_ > now) last_arrival_ns_ += more;
  }
  cut_until(until);
}

void Link::restart() { busy_until_ns_ = last_arrival_ns_ = 0; }

TimeNs Link::delay_ns(TimeNs now, LinkTally& tally) {
  TimeNs delay = draw_ns(settings_.delay, draws_) + own_delay_ns_ + rate_.delay_ns(busy_until_ns_);
  if (now < slow_until_ns_) {
    ++tally.slowed;
    delay += static_cast<TimeNs>(static_cast<double>(slow_delay_ns_) * draws_.uniform());
  }
  return delay;
}

// The order of the draws must not change, because the hashes of recorded runs depend on it.
Passage Link::pass(TimeNs now, std::size_t bytes, bool faulty, LinkTally& tally) {
  ++tally.messages;
  tally.bytes += bytes;
  rate_.forget_before(now);
  TimeNs begins = std::max(busy_until_ns_, now);
  if (cut(now)) {
    if (!settings_.stream) {
      ++tally.cut_off;
      return {};
    }
    ++tally.held_up;
    begins = std::max(begins, cut_until_ns_);
  }
  busy_until_ns_ = rate_.last_byte_at(begins, bytes);
  tally.queue_ns_max = std::max(tally.queue_ns_max, busy_until_ns_ - now);
  if (faulty && draws_.chance(settings_.loss)) {
    ++tally.lost;
    return {};
  }
  Passage passage;
  passage.copies = 1;
  TimeNs arrival = busy_until_ns_ + delay_ns(now, tally);
  if (faulty && draws_.chance(settings_.reordering)) {
    // It arrives after several later messages, which do not wait for it.
    ++tally.reordered;
    passage.reordered = true;
    arrival += 4 * draw_ns(settings_.delay, draws_);
  } else if (settings_.ordered) {
    arrival = last_arrival_ns_ = std::max(arrival, last_arrival_ns_);
  } else {
    passage.reordered = arrival < last_arrival_ns_;
    last_arrival_ns_ = std::max(arrival, last_arrival_ns_);
  }
  passage.arrives_at_ns[0] = arrival;
  // The bytes arrive as far apart as they were sent.
  passage.first_byte_at_ns = arrival - (busy_until_ns_ - begins);
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
