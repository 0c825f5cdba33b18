#include <gtest/gtest.h>

#include "core/sim/federation/mixed_faults_testing.h"

namespace tributary {
namespace {

TEST(SlowFaults, EverythingAtOnceForManySeeds) {
  for (std::uint64_t seed = 100; seed < 500; ++seed) {
    sim_testing::play_mixed(sim_testing::mixed_options(seed));
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(SlowFaults, EverythingAtOnceAmongPeers) {
  for (std::uint64_t seed = 100; seed < 500; ++seed) {
    sim_testing::play_mixed(sim_testing::mixed_peer_options(seed));
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

// A thousand agents: memory stays bounded, and all of them take part.
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
