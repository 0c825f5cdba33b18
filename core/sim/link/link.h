// One direction of a link: decides what becomes of each message, and when it arrives. Messages keep
// their order, as they do over a connection, except where the settings ask for something else.
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

struct LinkTally {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;
  std::uint64_t cut_off = 0;  // by a partition
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t flipped = 0;
  std::uint64_t slowed = 0;
  std::uint64_t held_up = 0;  // by a partition, on a link that is a stream
  TimeNs queue_ns_max = 0;    // from handing a message to a link until its last byte has left
};

// What happens to one message.
struct Passage {
  int copies = 0;
  TimeNs first_byte_at_ns = 0;  // of the first copy, at the receiver
  std::array<TimeNs, 2> arrives_at_ns = {};
  bool flip = false;  // a bit of the first copy
  bool reordered = false;
  // Arrives whole, once and in order.
  bool unharmed() const { return copies == 1 && !flip && !reordered; }
};

class Link {
 public:
  Link(const NetworkSettings& settings, SeededDraws draws)
      : Link(settings, draws, LinkRate(settings.rate_mbit_s), 0) {}
  // `own_delay_ns` is added to the delay of every message.
  Link(const NetworkSettings& settings, SeededDraws draws, LinkRate rate, TimeNs own_delay_ns)
      : settings_(settings), draws_(draws), rate_(std::move(rate)), own_delay_ns_(own_delay_ns) {}

  // With `faulty` false nothing but delay and rate.
  Passage pass(TimeNs now, std::size_t bytes, bool faulty, LinkTally& tally);

  void cut_until(TimeNs until) { cut_until_ns_ = std::max(cut_until_ns_, until); }
  // The same from now on. Of a stream, what is under way arrives later by as much.
  void cut(TimeNs now, TimeNs until);
  // For how long all cuts so far hold up a stream. A message that was sent when this was less
  // arrives later by the difference.
  TimeNs held_up_ns() const { return held_up_ns_; }
  // From the next message on.
  void set_rate(LinkRate rate) { rate_ = std::move(rate); }
  // A new connection: nothing is queued.
  void restart();
  void slow_until(TimeNs until, TimeNs delay_ns);
  bool cut(TimeNs now) const { return now < cut_until_ns_; }
  TimeNs cut_until_ns() const { return cut_until_ns_; }
  // Ends what is wrong with it.
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

// The links of an agent to the coordinator and back, with the rates that the scenario and the seed
// give it.
struct AgentLinks {
  Link up;
  Link down;
};
AgentLinks agent_links(const NetworkSettings& settings, std::uint64_t seed, std::uint32_t agent);

}  // namespace tributary
