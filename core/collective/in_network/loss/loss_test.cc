// The cost of losses, counted in virtual time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/collective/in_network/loss/lossy_network_testing.h"

namespace tributary::in_network {
namespace {

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

// A link is busy with contributions and their repeats, and idle for a few round trips at most: no
// window that shrinks, and no time-out, costs more than the repeats.
TEST(LossInVirtualTime, ALossCostsItsRepeatsAndLittleElse) {
  constexpr std::uint32_t kChunks = 4 * 1024;
  for (const std::uint32_t permille : {0u, 1u, 10u, 50u}) {
    LossyNetwork network({.lost_permille = permille});
    const double round_trips = network.round_trips(1024, 4);
    const SlotClient& agent = network.agent(0);
    const double busy = 8'600.0 / 200'000 * static_cast<double>(kChunks + agent.repeats());
    EXPECT_LT(round_trips, 1.02 * busy + 3) << permille;
    testing::Test::RecordProperty(
        fmt::format("loss_{}_permille", permille),
        fmt::format("{:.1f}, links busy {:.1f}, repeats {}", round_trips, busy, agent.repeats()));
  }
}

// A queue that is full drops packets. The window must not stay above the queue and the path.
TEST(LossInVirtualTime, AShortQueueIsNotOverrunAllTheTime) {
  for (const std::int64_t queue_packets : {16, 32, 64}) {
    LossyNetwork network({.queue_packets = queue_packets, .client = {.slots = 512, .window = 256}});
    const double round_trips = network.round_trips(1024, 4);
    const SlotClient& agent = network.agent(0);
    EXPECT_LT(round_trips, 1.2 * 176) << queue_packets << "; the links alone take 176";
    const std::int64_t path_packets = 24;
    EXPECT_LT(agent.window(), 1.5 * static_cast<double>(path_packets + queue_packets));
    testing::Test::RecordProperty(
        fmt::format("queue_{}", queue_packets),
        fmt::format("{:.1f}, repeats {}, window {}", round_trips, agent.repeats(), agent.window()));
  }
}

}  // namespace
}  // namespace tributary::in_network
