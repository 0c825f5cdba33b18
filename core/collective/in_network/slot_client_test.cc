#include "core/collective/in_network/slot_client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "core/base/random.h"

namespace tributary::in_network {
namespace {

class SlotClientTest : public testing::Test {
 protected:
  SlotClientTest()
      : client_({.slots = 4,
                 .window = 2,
                 .timeout_ns_first = 1000,
                 .timeout_ns_min = 100,
                 .timeout_ns_max = 4000}) {
    client_.enter(5);
  }
  static PacketHeader result(const ChunkSend& send) {
    return {.epoch = 5, .sequence = send.sequence, .slot = send.slot};
  }

  SlotClient client_;
};

TEST_F(SlotClientTest, AResultReleasesTheNextChunk) {
  client_.begin(6, kNoTime);
  const auto first = client_.next_send(0);
  const auto second = client_.next_send(0);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->slot, 1);
  EXPECT_FALSE(client_.next_send(0));
  EXPECT_TRUE(client_.on_result(result(*second), 10));
  EXPECT_FALSE(client_.on_result(result(*second), 10));
  const auto third = client_.next_send(10);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->chunk, 2u);
}

TEST_F(SlotClientTest, ASlotWaitsForItsOwnResult) {
  client_.begin(6, kNoTime);
  std::vector<ChunkSend> sent;
  const auto first = client_.next_send(0);
  ASSERT_TRUE(first);
  // All others get results; the fifth chunk needs the slot of the first.
  while (const auto next = client_.next_send(0)) {
    sent.push_back(*next);
    EXPECT_TRUE(client_.on_result(result(*next), 1));
  }
  EXPECT_EQ(sent.size(), 3u);
  EXPECT_TRUE(client_.on_result(result(*first), 2));
  const auto fifth = client_.next_send(2);
  ASSERT_TRUE(fifth);
  EXPECT_EQ(fifth->chunk, 4u);
  EXPECT_EQ(fifth->slot, 0);
  EXPECT_EQ(fifth->sequence, 1u);
}

// All agents then repeat the same chunk, also if they have lost different packets.
TEST_F(SlotClientTest, TimeOutsRepeatTheOldestChunk) {
  client_.begin(2, kNoTime);
  ASSERT_TRUE(client_.next_send(0));
  ASSERT_TRUE(client_.next_send(500));
  EXPECT_EQ(client_.next_time_ns(), 1000);
  client_.on_time(1000);
  const auto repeat = client_.next_send(1000);
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->chunk, 0u);
  EXPECT_EQ(client_.repeats(), 1u);
  EXPECT_EQ(client_.next_time_ns(), 3000) << "the time-out has doubled";
  client_.on_time(3000);
  const auto second = client_.next_send(3000);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->chunk, 0u);
}

// A result that has waited for another agent says little about round trips.
TEST_F(SlotClientTest, AWaitDuringTimeOutsCountsAsAShortRoundTrip) {
  SlotClient client({.slots = 64, .window = 8, .timeout_ns_min = 100});
  client.enter(5);
  client.begin(32, kNoTime);
  std::int64_t now = 0;
  for (int chunk = 0; chunk < 4; ++chunk, now += 20) {
    const auto sent = client.next_send(now);
    ASSERT_TRUE(sent);
    EXPECT_TRUE(client.on_result(result(*sent), now + 20));
  }
  std::vector<ChunkSend> sent;
  for (int chunk = 0; chunk < 8; ++chunk) sent.push_back(*client.next_send(now));
  for (const std::int64_t end = now + 50'000; now < end; now = client.next_time_ns()) {
    client.on_time(now);
    while (client.next_send(now)) {
    }
  }
  for (const ChunkSend& chunk : sent) EXPECT_TRUE(client.on_result(result(chunk), now));
  ASSERT_TRUE(client.next_send(now));
  EXPECT_LT(client.next_time_ns() - now, 2000) << "the silence was 50,000";
}

// All agents wait for a slow one, and no packet is lost.
TEST_F(SlotClientTest, WithoutAnyResultTheWindowKeepsItsSize) {
  client_.begin(2, kNoTime);
  const auto first = client_.next_send(0);
  const auto second = client_.next_send(0);
  ASSERT_TRUE(first && second);
  for (const std::int64_t now : {1000, 3000, 7000, 11'000}) {
    client_.on_time(now);
    while (client_.next_send(now)) {
    }
  }
  EXPECT_EQ(client_.repeats(), 4u) << "one at each time-out";
  EXPECT_EQ(client_.window(), 2u);
  EXPECT_TRUE(client_.on_result(result(*first), 12'000));
  EXPECT_TRUE(client_.on_result(result(*second), 12'000));
  EXPECT_EQ(client_.window(), 3u);
}

TEST_F(SlotClientTest, AResultOfALaterChunkShowsALoss) {
  client_.begin(6, kNoTime);
  const auto first = client_.next_send(0);
  const auto second = client_.next_send(10);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(client_.on_result(result(*second), 30));
  const auto repeat = client_.next_send(30);
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->chunk, 0u);
  EXPECT_EQ(repeat->sequence, first->sequence);
  EXPECT_EQ(client_.repeats(), 1u);
}

// Packets that left almost together may arrive in any order.
TEST_F(SlotClientTest, AChunkThatWasSentAtTheSameTimeIsNotLost) {
  client_.begin(6, kNoTime);
  ASSERT_TRUE(client_.next_send(0));
  const auto second = client_.next_send(0);
  ASSERT_TRUE(second);
  EXPECT_TRUE(client_.on_result(result(*second), 30));
  const auto third = client_.next_send(30);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->chunk, 2u);
  EXPECT_EQ(client_.repeats(), 0u);
}

TEST_F(SlotClientTest, ARefusalCountsIfItIsForAContributionThatWaits) {
  client_.begin(2, kNoTime);
  const auto first = client_.next_send(0);
  ASSERT_TRUE(first);
  PacketHeader refusal = result(*first);
  refusal.reason = DropReason::unknown_job;
  refusal.epoch = 4;
  EXPECT_FALSE(client_.on_refusal(refusal));
  refusal.epoch = 5;
  EXPECT_TRUE(client_.on_refusal(refusal));
  EXPECT_EQ(client_.end(), BucketEnd::refused);
  EXPECT_EQ(client_.next_time_ns(), kNoTime);
}

TEST_F(SlotClientTest, TheDeadlineEndsTheBucket) {
  client_.begin(2, 700);
  ASSERT_TRUE(client_.next_send(0));
  EXPECT_EQ(client_.next_time_ns(), 700);
  client_.on_time(699);
  EXPECT_EQ(client_.end(), BucketEnd::running);
  client_.on_time(700);
  EXPECT_EQ(client_.end(), BucketEnd::deadline);
  EXPECT_FALSE(client_.next_send(700));
}

TEST_F(SlotClientTest, ABucketWithoutChunksIsComplete) {
  client_.begin(0, kNoTime);
  EXPECT_EQ(client_.end(), BucketEnd::complete);
}

TEST_F(SlotClientTest, TheNextBucketBeginsWhenAllChunksWereSentOnce) {
  client_.begin(2, kNoTime);
  const auto first = client_.next_send(0);
  EXPECT_FALSE(client_.can_begin());
  const auto second = client_.next_send(0);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(client_.can_begin());
  client_.begin(2, kNoTime);
  EXPECT_FALSE(client_.can_begin());
  EXPECT_FALSE(client_.next_send(0)) << "the window is full";
  EXPECT_TRUE(client_.on_result(result(*second), 10));
  const auto third = client_.next_send(10);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->bucket, 1u);
  EXPECT_EQ(third->chunk, 0u);
  EXPECT_EQ(third->slot, 2) << "slots go on where the bucket before ended";
  EXPECT_TRUE(client_.on_result(result(*third), 20));
  // The first chunk is lost, because the third one was sent later.
  const auto again = client_.next_send(20);
  const auto fourth = client_.next_send(20);
  ASSERT_TRUE(again && fourth);
  EXPECT_EQ(again->bucket, 0u);
  EXPECT_EQ(again->chunk, 0u);
  EXPECT_EQ(fourth->bucket, 1u);
  EXPECT_TRUE(client_.on_result(result(*fourth), 30));
  // The second bucket has all results, the first one has not.
  EXPECT_EQ(client_.completed(), 0u);
  EXPECT_EQ(client_.end(), BucketEnd::running);
  EXPECT_TRUE(client_.on_result(result(*again), 40));
  EXPECT_EQ(client_.completed(), 2u);
  EXPECT_EQ(client_.end(), BucketEnd::complete);
  EXPECT_EQ(client_.sent_of(0), 3u);
  EXPECT_EQ(client_.repeats_of(0), 1u);
  EXPECT_EQ(client_.sent_of(1), 2u);
}

TEST_F(SlotClientTest, NoMoreBucketsAreUnderWayThanTheBound) {
  SlotClient client({.slots = 64, .window = 64});
  client.enter(1);
  for (std::uint32_t bucket = 0; bucket < kOpenBucketsMax; ++bucket) {
    ASSERT_TRUE(client.can_begin());
    client.begin(1, bucket == 3 ? 50 : kNoTime);
    ASSERT_TRUE(client.next_send(0));
  }
  EXPECT_FALSE(client.can_begin());
  EXPECT_EQ(client.next_time_ns(), 50) << "the deadline of any bucket";
  client.on_time(50);
  EXPECT_EQ(client.end(), BucketEnd::deadline);
  EXPECT_FALSE(client.can_begin());
}

// No later chunk can show the loss of the last one.
TEST_F(SlotClientTest, TheLastChunkIsProbedAfterLittleMoreThanARoundTrip) {
  client_.begin(4, kNoTime);
  std::int64_t now = 0;
  for (int chunk = 0; chunk < 3; ++chunk, now += 20) {
    const auto sent = client_.next_send(now);
    ASSERT_TRUE(sent);
    EXPECT_TRUE(client_.on_result(result(*sent), now + 20));
  }
  const auto last = client_.next_send(now);
  ASSERT_TRUE(last);
  const std::int64_t probe = client_.next_time_ns() - now;
  EXPECT_GT(probe, 20);
  EXPECT_LT(probe, 60) << "the shortest time-out is 100";
  // Without an answer, probes end and time-outs begin.
  std::int64_t before = now;
  for (int round = 0; round < 4; ++round) {
    before = now;
    now = client_.next_time_ns();
    EXPECT_EQ(now - before, probe);
    client_.on_time(now);
    ASSERT_TRUE(client_.next_send(now));
  }
  EXPECT_EQ(client_.next_time_ns() - now, 100);
}

// The answer to a chunk that this agent has repeated may have waited for another agent's repeat. It
// shows nothing about chunks that were sent between.
TEST_F(SlotClientTest, TheAnswerToARepeatShowsNoLoss) {
  SlotClient client({.slots = 64, .window = 4});
  client.enter(5);
  client.begin(32, kNoTime);
  std::vector<ChunkSend> sent;
  for (int chunk = 0; chunk < 4; ++chunk) sent.push_back(*client.next_send(chunk * 200));
  EXPECT_TRUE(client.on_result(result(sent[1]), 700));  // the first chunk is lost
  const auto repeat = client.next_send(800);
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->chunk, 0u);
  EXPECT_TRUE(client.on_result(result(*repeat), 1400));
  EXPECT_EQ(client.repeats(), 1u);
  while (const auto next = client.next_send(1400)) EXPECT_GE(next->chunk, 4u);
  EXPECT_EQ(client.repeats(), 1u);
}

// --- losses, counted in virtual time -------------------------------------------------------------

// Agents and an aggregator's slots over links that lose packets, without bytes.
struct LossyLinks {
  std::uint32_t agents = 4;
  std::uint32_t lost_permille = 0;  // in each direction of each agent's link
  std::int64_t packet_ns = 8'600;   // that a link needs for a packet, in each direction
  std::int64_t delay_ns = 100'000;  // in each direction
  std::int64_t late_ns = 0;         // after which the last agent begins
  // From this time on, half of the packets are lost for the time of a burst.
  std::int64_t burst_at_ns = kNoTime;
  std::int64_t burst_ns = 0;
  std::uint32_t seed = 1;
  SlotClientOptions client = {.slots = 512};
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
      }
    }
    for (SlotClient& agent : agents_) agent.on_time(now_ns_);
  }
  void carry(std::int64_t& free_ns, const Packet& packet) {
    if (random_bits({links_.seed, 78}, draws_++) % 1000 < lost_permille()) return;
    free_ns = std::max(free_ns, now_ns_) + links_.packet_ns;
    under_way_.emplace(free_ns + links_.delay_ns, packet);
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
        return carry(down_free_ns_[a], packet);
      default:
        return;
    }
    if (!slot.complete()) return;
    for (packet.agent = 0; packet.agent < links_.agents; ++packet.agent) {
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
  std::uint32_t chunks_ = 0;
  std::int64_t now_ns_ = 1;
  std::int64_t late_until_ns_ = 0;
  std::uint32_t draws_ = 0;
};

// The mean of several seeds. Values are virtual, so the test does not depend on the machine.
double mean_round_trips(LossyLinks links, std::uint32_t chunks, std::uint32_t buckets) {
  constexpr std::uint32_t kSeeds = 8;
  double sum = 0;
  for (links.seed = 1; links.seed <= kSeeds; ++links.seed) {
    sum += LossyNetwork(links).round_trips(chunks, buckets);
  }
  return sum / kSeeds;
}

// The report of the test program has both times, in round trips.
double cost_of_one_percent(std::uint32_t chunks, std::uint32_t buckets,
                           std::int64_t delay_ns = 100'000) {
  const double whole = mean_round_trips({.delay_ns = delay_ns}, chunks, buckets);
  const double lossy =
      mean_round_trips({.lost_permille = 10, .delay_ns = delay_ns}, chunks, buckets);
  testing::Test::RecordProperty(
      fmt::format("delay_{}_us_buckets_{}_of_{}", delay_ns / 1000, buckets, chunks),
      fmt::format("{:.1f} {:.1f}", whole, lossy));
  return lossy / whole;
}

TEST(LossInVirtualTime, OnePercentCostsABucketLessThanATenth) {
  EXPECT_LT(cost_of_one_percent(1024, 1), 1.1);
}

// As in a job: every bucket has last chunks, whose loss no later chunk of the bucket shows.
TEST(LossInVirtualTime, OnePercentCostsManySmallBucketsLessThanATenth) {
  EXPECT_LT(cost_of_one_percent(64, 16), 1.1);
  EXPECT_LT(cost_of_one_percent(64, 96), 1.1);
}

// The window grows all the time here, and is smaller than what the path holds.
TEST(LossInVirtualTime, OnePercentCostsLessThanATenthOfALongerPath) {
  EXPECT_LT(cost_of_one_percent(1024, 1, 500'000), 1.1);
  EXPECT_LT(cost_of_one_percent(64, 96, 500'000), 1.1);
}

// A larger window would only make the queue at the link longer.
TEST(LossInVirtualTime, AQueueEndsTheGrowthOfTheWindow) {
  LossyNetwork network({.delay_ns = 50'000});
  network.round_trips(64, 96);
  EXPECT_GE(network.agent(0).window(), 48u);
  EXPECT_LE(network.agent(0).window(), 64u);
}

// Links as in bench/in_network.py. A queue of a window before the link is longer than the path.
TEST(LossInVirtualTime, AQueueDoesNotMakeRepeatsOfNothing) {
  const LossyLinks lossy = {.lost_permille = 10, .client = {.slots = 256, .window = 128}};
  LossyNetwork network(lossy);
  network.round_trips(1024, 4);
  // Five packets for each chunk can be lost, so five chunks of a hundred need a repeat.
  EXPECT_GT(network.agent(0).repeats(), 4096u * 3 / 100);
  EXPECT_LT(network.agent(0).repeats(), 4096u * 10 / 100);
}

// As in a job: the others wait in each round, and no packet is lost.
TEST(LossInVirtualTime, ALateAgentMakesFewRepeats) {
  constexpr std::uint32_t kRounds = 20;
  constexpr std::int64_t kLateNs = 20'000'000;
  LossyNetwork network({.late_ns = kLateNs});
  double round_trips = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    round_trips += network.round_trips(64, 4);
  }
  EXPECT_LT(network.agent(0).repeats(), kRounds * 16);
  LossyNetwork prompt({});
  double prompt_trips = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) prompt_trips += prompt.round_trips(64, 4);
  constexpr double kWaits = kRounds * static_cast<double>(kLateNs) / 200'000;
  EXPECT_LT(round_trips - kWaits, 1.2 * prompt_trips);
}

// A burst of losses takes different packets from each agent, at a full queue for example. Windows
// and time-outs are those of bench/in_network.py; without a burst, the buckets take 40 round trips.
TEST(LossInVirtualTime, BurstsOfLossesEndInFewTimeOuts) {
  constexpr std::int64_t kMs = 1'000'000;
  for (const std::int64_t burst_ns : {kMs / 3, kMs, 3 * kMs, 10 * kMs}) {
    double longest = 0;
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
      LossyNetwork network({.packet_ns = 2'000,
                            .burst_at_ns = 2 * kMs,
                            .burst_ns = burst_ns,
                            .seed = seed,
                            .client = {.slots = 256, .window = 128, .timeout_ns_min = 10 * kMs}});
      longest = std::max(longest, network.round_trips(1024, 4));
    }
    // A time-out is 50 round trips.
    EXPECT_LT(longest, 5'000) << burst_ns;
    testing::Test::RecordProperty(fmt::format("burst_{}_us", burst_ns / 1000),
                                  fmt::format("{:.0f}", longest));
  }
}

TEST(LossInVirtualTime, BucketsAreExchangedAsOneStream) {
  const double once = mean_round_trips({}, 1024, 1);
  EXPECT_LT(mean_round_trips({}, 64, 16), 1.05 * once);
}

}  // namespace
}  // namespace tributary::in_network
