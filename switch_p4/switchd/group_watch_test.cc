#include "switch_p4/switchd/group_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/collective/in_network/loss/lossy_network_testing.h"

namespace tributary::switchd {
namespace {

// The counters of an aggregator, without a network.
class GroupWatchTest : public testing::Test {
 protected:
  void pass(std::uint64_t results, std::uint64_t resent) {
    results_ += results;
    resent_ += resent;
    watch_.look(results_, resent_);
  }
  // The group fails, the agents' own addresses work, and the group is tried again.
  void fail_once() {
    pass(32, 32);
    EXPECT_FALSE(watch_.uses_group());
    pass(1'024, 0);
    EXPECT_TRUE(watch_.uses_group());
  }
  void find_dead() {
    for (int failure = 0; failure < 3; ++failure) fail_once();
    pass(32, 32);
  }

  GroupWatch watch_;
  std::uint64_t results_ = 0;
  std::uint64_t resent_ = 0;
};

TEST_F(GroupWatchTest, LossesAreNoDeadPath) {
  for (int result = 0; result < 10'000; ++result) {
    pass(1, static_cast<std::uint64_t>(result % 2));
    ASSERT_TRUE(watch_.uses_group()) << result;
  }
  EXPECT_EQ(watch_.falls(), 0u);
}

TEST_F(GroupWatchTest, TheGroupIsDeadIfItFailsAgainAndAgainAndUnicastWorks) {
  find_dead();
  EXPECT_EQ(watch_.falls(), 1u);
  EXPECT_FALSE(watch_.uses_group());
}

TEST_F(GroupWatchTest, ADeadPathIsTriedAgainAfterPausesThatDouble) {
  find_dead();
  pass(1'023, 0);
  EXPECT_FALSE(watch_.uses_group());
  pass(1, 0);
  EXPECT_TRUE(watch_.uses_group());
  pass(32, 32);
  EXPECT_EQ(watch_.falls(), 2u) << "one failure is then enough";
  pass(2'047, 0);
  EXPECT_FALSE(watch_.uses_group());
  pass(1, 0);
  EXPECT_TRUE(watch_.uses_group());
}

TEST_F(GroupWatchTest, APathThatWorksAgainIsForgiven) {
  find_dead();
  pass(1'024, 0);
  pass(1'024, 0);  // to the group, without repeats
  find_dead();
  EXPECT_EQ(watch_.falls(), 2u);
  pass(1'024, 0);
  EXPECT_TRUE(watch_.uses_group()) << "the pause is the first one again";
}

TEST_F(GroupWatchTest, RepeatsThatGoOnWithoutTheGroupClearIt) {
  for (int times = 0; times < 10; ++times) {
    pass(32, 32);
    EXPECT_FALSE(watch_.uses_group());
    for (int block = 0; block < 64; ++block) pass(64, 64);
    EXPECT_TRUE(watch_.uses_group()) << times;
  }
  EXPECT_EQ(watch_.falls(), 0u);
}

TEST_F(GroupWatchTest, RepeatsOfResultsToTheGroupCountForNothingDuringTheTrial) {
  pass(32, 32);
  pass(64, 480);  // had been sent to the group
  EXPECT_FALSE(watch_.uses_group());
  pass(1'024, 0);
  EXPECT_TRUE(watch_.uses_group());
}

// --- agents and an aggregator in virtual time ----------------------------------------------------

constexpr std::int64_t kMs = 1'000'000;

struct Watched {
  std::uint64_t falls = 0;
  in_network::LossyCounters counters;
};

// `look_every_ns`: 0 after each packet, as tributary-switchd does at most.
Watched exchange(const in_network::LossyLinks& links, std::uint32_t buckets,
                 std::int64_t look_every_ns = 0) {
  in_network::LossyNetwork network(links);
  GroupWatch watch;
  std::int64_t looked_ns = 0;
  network.watch([&](const in_network::LossyCounters& counters) {
    if (counters.now_ns - looked_ns >= look_every_ns) {
      looked_ns = counters.now_ns;
      watch.look(counters.results, counters.resent);
    }
    return watch.uses_group();
  });
  network.round_trips(256, buckets);
  return {.falls = watch.falls(), .counters = network.counters()};
}

in_network::LossyLinks quick_links(std::uint32_t agents) {
  return {.agents = agents,
          .packet_ns = 4'000,
          .delay_ns = 20'000,
          .client = {.slots = 512, .window = 128, .timeout_ns_min = kMs / 2}};
}

// The rule before this one took a burst of 32 repeats for a dead path.
TEST(GroupWatchInVirtualTime, ANetworkThatStandsStillIsNoDeadGroup) {
  for (const std::uint32_t agents : {4u, 16u}) {
    for (const std::int64_t still_ns : {kMs, 3 * kMs, 15 * kMs}) {
      for (const std::int64_t works_ns : {kMs, 3 * kMs, 10 * kMs}) {
        in_network::LossyLinks links = quick_links(agents);
        links.still_ns = still_ns;
        links.still_every_ns = still_ns + works_ns;
        const Watched seen = exchange(links, 50);
        EXPECT_EQ(seen.falls, 0u) << agents << " " << still_ns << " " << works_ns;
        EXPECT_GT(seen.counters.resent, 64u);
      }
    }
  }
}

TEST(GroupWatchInVirtualTime, AGroupThatDoesNotReachAnAgentIsDead) {
  for (const std::uint32_t without : {1u, 4u}) {
    for (const std::int64_t look_every_ns : {std::int64_t{0}, 20 * kMs}) {
      in_network::LossyLinks links = quick_links(4);
      links.agents_without_group = without;
      const Watched seen = exchange(links, 100, look_every_ns);
      EXPECT_GE(seen.falls, 1u) << without << " " << look_every_ns;
      RecordProperty(fmt::format("without_{}_look_{}_ms", without, look_every_ns / kMs),
                     fmt::format("{} of {}", seen.counters.resent, seen.counters.results));
      if (look_every_ns == 0) {
        EXPECT_LT(seen.counters.resent, without * seen.counters.results / 10);
      }
    }
  }
}

}  // namespace
}  // namespace tributary::switchd
