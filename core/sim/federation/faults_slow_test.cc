// Runs federations with all faults at once over many seeds. A failing seed is part of the message.
#include <gtest/gtest.h>

#include "core/sim/federation/mixed_faults_testing.h"

namespace tributary {
namespace {

void play_seeds(sim_testing::Options (*options_of)(std::uint64_t), std::uint64_t first,
                std::uint64_t end) {
  for (std::uint64_t seed = first; seed < end; ++seed) {
    sim_testing::play_mixed(options_of(seed));
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(SlowFaults, EverythingAtOnceForManySeeds) { play_seeds(sim_testing::mixed_options, 100, 200); }

TEST(SlowFaults, EverythingAtOnceForManyMoreSeeds) {
  play_seeds(sim_testing::mixed_options, 200, 500);
}

TEST(SlowFaults, EverythingAtOnceAmongPeers) {
  play_seeds(sim_testing::mixed_peer_options, 100, 200);
}

TEST(SlowFaults, EverythingAtOnceAmongPeersForManyMoreSeeds) {
  play_seeds(sim_testing::mixed_peer_options, 200, 500);
}

// With a thousand agents, memory stays bounded and all agents contribute.
TEST(SlowFaults, ManyAgents) {
  sim_testing::Options options;
  options.agents = 1'000;
  options.rounds = 4;
  options.policy.codec = "thc";
  options.policy.bucket_values_max = 128;
  options.policy.agents_min = 1'000;
  options.policy.quorum_fraction = 1;
  sim_testing::Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(1e-4);
  EXPECT_EQ(federation.journal().commits()[0].round.contributor_sets[0].contributors, 1'000u);
}

}  // namespace
}  // namespace tributary
