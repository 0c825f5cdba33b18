// One direction of a simulated link. It decides for each message whether, when and how it arrives.
// Messages keep their order, as on a connection, unless the settings allow otherwise. Not
// thread-safe; all times are virtual.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/round/common/machine/events.h"
#include "core/sim/link/link_rate.h"
#include "core/sim/scenario/draws.h"
#include "core/sim/scenario/scenario.h"

namespace tributary {

// Totals of one or more links.
struct LinkTally {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;
  std::uint64_t cut_off = 0;  // dropped by a partition
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t flipped = 0;
  std::uint64_t slowed = 0;
  std::uint64_t held_up = 0;  // delayed by a partition, on a link that is a stream
  TimeNs queue_ns_max = 0;    // longest time from send until the last byte has left
};

// The fate of one message.
struct Passage {
  int copies = 0;
  TimeNs first_byte_at_ns = 0;  // arrival of the first copy's first byte
  std::array<TimeNs, 2> arrives_at_ns = {};
  bool flip = false;  // one bit of the first copy is flipped
  bool reordered = false;
  // Whether the message arrives unchanged, exactly once and in order.
  bool unharmed() const { return copies == 1 && !flip && !reordered; }
};

class Link {
 public:
  Link(const NetworkSettings& settings, SeededDraws draws)
      : Link(settings, draws, LinkRate(settings.rate_mbit_s), 0) {}
  // `own_delay_ns` is added to the delay of every message. `settings` must outlive the link.
  Link(const NetworkSettings& settings, SeededDraws draws, LinkRate rate, TimeNs own_delay_ns)
      : settings_(settings), draws_(draws), rate_(std::move(rate)), own_delay_ns_(own_delay_ns) {}

  // Passes one message. Without `faulty` only delay, rate and partitions apply.
  Passage pass(TimeNs now, std::size_t bytes, bool faulty, LinkTally& tally);

  void cut_until(TimeNs until) { cut_until_ns_ = std::max(cut_until_ns_, until); }
  // The same, from now on. On a stream, data in flight arrives later by the duration of the cut.
  void cut(TimeNs now, TimeNs until);
  // Total time by which all cuts so far have delayed a stream. If the total was smaller when a
  // message was sent, the message arrives later by the difference.
  TimeNs held_up_ns() const { return held_up_ns_; }
  // Applies from the next message on.
  void set_rate(LinkRate rate) { rate_ = std::move(rate); }
  // A new connection begins, so the queue is empty.
  void restart();
  void slow_until(TimeNs until, TimeNs delay_ns);
  bool cut(TimeNs now) const { return now < cut_until_ns_; }
  TimeNs cut_until_ns() const { return cut_until_ns_; }
  // Ends partitions and delays.
  void mend() { cut_until_ns_ = slow_until_ns_ = 0; }
  SeededDraws& draws() { return draws_; }

 private:
  TimeNs delay_ns(TimeNs now, LinkTally& tally);

  const NetworkSettings& settings_;
  SeededDraws draws_;
  LinkRate rate_;
  TimeNs own_delay_ns_ = 0;
  TimeNs held_up_ns_ = 0;
  TimeNs busy_until_ns_ = 0;
  TimeNs last_arrival_ns_ = 0;
  TimeNs cut_until_ns_ = 0;
  TimeNs slow_until_ns_ = 0;
  TimeNs slow_delay_ns_ = 0;
};

// An agent's links to and from the coordinator, with the rates that the scenario and the seed
// determine.
struct AgentLinks {
  Link up;
  Link down;
};
AgentLinks agent_links(const NetworkSettings& settings, std::uint64_t seed, std::uint32_t agent);

}  // namespace tributary
