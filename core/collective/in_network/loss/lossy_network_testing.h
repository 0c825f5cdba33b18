// A network of agents and an aggregator's slots in virtual time, for tests: links that lose
// packets, without bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/collective/in_network/slot_client.h"

namespace tributary::in_network {

struct LossyLinks {
  std::uint32_t agents = 4;
  std::uint32_t lost_permille = 0;  // in each direction of each agent's link
  std::int64_t packet_ns = 8'600;   // that a link needs for a packet, in each direction
  std::int64_t delay_ns = 100'000;  // in each direction
  std::int64_t queue_packets = 0;   // before each link, in each direction; 0: without a bound
  std::int64_t late_ns = 0;         // after which the last agent begins
  // From this time on, half of the packets are lost for the time of a burst.
  std::int64_t burst_at_ns = kNoTime;
  std::int64_t burst_ns = 0;
  // The network stands still for a while, once in each period and at a drawn time of it: what would
  // arrive meanwhile arrives at the end, by whatever path. Clocks go on.
  std::int64_t still_every_ns = kNoTime;
  std::int64_t still_ns = 0;
  // The last agents, which results to the group do not reach.
  std::uint32_t agents_without_group = 0;
  std::uint32_t seed = 1;
  SlotClientOptions client = {.slots = 512};
};

// The aggregator's counters, as SlotCounters has them.
struct LossyCounters {
  std::int64_t now_ns = 0;
  std::uint64_t results = 0;
  std::uint64_t resent = 0;
};

class LossyNetwork {
 public:
  explicit LossyNetwork(const LossyLinks& links) : links_(links), slots_(links.client.slots) {
    links_.client.agents = links.agents;
    for (std::uint32_t a = 0; a < links.agents; ++a) {
      agents_.emplace_back(links_.client);
      agents_.back().enter(kEpoch);
    }
    up_free_ns_.resize(links.agents);
    down_free_ns_.resize(links.agents);
  }

  // All agents exchange so many buckets of so many chunks. Returns the virtual round trips.
  double round_trips(std::uint32_t chunks, std::uint32_t buckets) {
    const std::int64_t began_ns = now_ns_;
    late_until_ns_ = now_ns_ + links_.late_ns;
    left_.assign(agents_.size(), buckets);
    chunks_ = chunks;
    while (!all_ended() && now_ns_ - began_ns < kPatienceNs) step();
    return static_cast<double>(now_ns_ - began_ns) / static_cast<double>(2 * links_.delay_ns);
  }
  const SlotClient& agent(std::size_t a) const { return agents_[a]; }
  const LossyCounters& counters() const { return counters_; }
  // Is called after each packet that the aggregator takes. Returns whether results go to the group.
  void watch(std::function<bool(const LossyCounters&)> uses_group) {
    uses_group_ = std::move(uses_group);
  }

 private:
  static constexpr std::uint32_t kEpoch = 1;
  static constexpr std::int64_t kPatienceNs = 100'000'000'000;
  struct Packet {
    std::uint32_t agent;
    bool to_agent;
    ChunkSend chunk;
  };

  bool all_ended() const {
    return std::ranges::all_of(left_, [](std::uint32_t left) { return left == 0; }) &&
           std::ranges::all_of(
               agents_, [](const SlotClient& agent) { return agent.end() == BucketEnd::complete; });
  }
  void step() {
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
      if (a + 1 == agents_.size() && now_ns_ < late_until_ns_) continue;
      do {
        if (agents_[a].can_begin() && left_[a] > 0) {
          --left_[a];
          agents_[a].begin(chunks_, kNoTime);
        }
        while (const auto chunk = agents_[a].next_send(now_ns_)) {
          carry(up_free_ns_[a], {.agent = a, .to_agent = false, .chunk = *chunk});
        }
      } while (agents_[a].can_begin() && left_[a] > 0);
    }
    std::int64_t next = under_way_.empty() ? kNoTime : under_way_.begin()->first;
    for (const SlotClient& agent : agents_) next = std::min(next, agent.next_time_ns());
    if (now_ns_ < late_until_ns_) next = std::min(next, late_until_ns_);
    now_ns_ = std::max(now_ns_, next);
    while (!under_way_.empty() && under_way_.begin()->first <= now_ns_) {
      const Packet packet = under_way_.begin()->second;
      under_way_.erase(under_way_.begin());
      if (packet.to_agent) {
        agents_[packet.agent].on_result(
            {.epoch = kEpoch, .sequence = packet.chunk.sequence, .slot = packet.chunk.slot},
            now_ns_);
      } else {
        aggregate(packet);
        counters_.now_ns = now_ns_;
        if (uses_group_) by_group_ = uses_group_(counters_);
      }
    }
    for (SlotClient& agent : agents_) agent.on_time(now_ns_);
  }
  void carry(std::int64_t& free_ns, const Packet& packet) {
    if (random_bits({links_.seed, 78}, draws_++) % 1000 < lost_permille()) return;
    const std::int64_t queued_ns = std::max<std::int64_t>(free_ns - now_ns_, 0);
    if (links_.queue_packets > 0 && queued_ns > links_.queue_packets * links_.packet_ns) return;
    free_ns = std::max(free_ns, now_ns_) + links_.packet_ns;
    under_way_.emplace(arrival_ns(free_ns + links_.delay_ns), packet);
  }
  std::int64_t arrival_ns(std::int64_t ns) const {
    if (links_.still_ns == 0) return ns;
    const auto period = static_cast<std::uint32_t>(ns / links_.still_every_ns);
    const auto moves = static_cast<std::uint64_t>(links_.still_every_ns - links_.still_ns);
    const auto at = static_cast<std::int64_t>(random_bits({links_.seed, 79}, period) % moves);
    const std::int64_t began_ns = period * links_.still_every_ns + at;
    return ns < began_ns ? ns : std::max(ns, began_ns + links_.still_ns);
  }
  std::uint32_t lost_permille() const {
    const bool burst =
        now_ns_ >= links_.burst_at_ns && now_ns_ - links_.burst_at_ns < links_.burst_ns;
    return burst ? 500 : links_.lost_permille;
  }
  void aggregate(Packet packet) {
    SlotPhases& slot = slots_[packet.chunk.slot];
    const std::uint32_t a = packet.agent;
    packet.to_agent = true;
    switch (slot.decide(kEpoch, packet.chunk.sequence, a).step) {
      case SlotStep::start:
        slot.start(kEpoch, packet.chunk.sequence, a, links_.agents);
        break;
      case SlotStep::add:
        slot.add(a);
        break;
      case SlotStep::resend_current:
      case SlotStep::resend_previous:
        ++counters_.resent;
        return carry(down_free_ns_[a], packet);
      default:
        return;
    }
    if (!slot.complete()) return;
    ++counters_.results;
    const std::uint32_t reached = links_.agents - (by_group_ ? links_.agents_without_group : 0);
    for (packet.agent = 0; packet.agent < reached; ++packet.agent) {
      carry(down_free_ns_[packet.agent], packet);
    }
  }

  LossyLinks links_;
  std::vector<SlotPhases> slots_;
  std::deque<SlotClient> agents_;
  std::vector<std::uint32_t> left_;  // buckets that have not begun, of each agent
  std::vector<std::int64_t> up_free_ns_;
  std::vector<std::int64_t> down_free_ns_;
  std::multimap<std::int64_t, Packet> under_way_;
  std::function<bool(const LossyCounters&)> uses_group_;
  bool by_group_ = true;
  LossyCounters counters_;
  std::uint32_t chunks_ = 0;
  std::int64_t now_ns_ = 1;
  std::int64_t late_until_ns_ = 0;
  std::uint32_t draws_ = 0;
};

}  // namespace tributary::in_network
