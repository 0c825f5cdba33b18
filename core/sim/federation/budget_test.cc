// Tests that the bytes in flight at the same time, from and to all agents, stay within the
// coordinator's budgets.
#include <gtest/gtest.h>

#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

constexpr std::uint64_t kBudget = 40u << 10;

Options crowd(std::uint32_t agents) {
  Options options;
  options.agents = agents;
  options.rounds = 3;
  options.policy.agents_min = agents;
  options.policy.quorum_fraction = 1;
  options.policy.deadline_ms = 60'000;
  options.vector_values = 4'000;  // 17 kB of fp32
  options.payload_bytes_max = 2u << 10;
  options.incoming_bytes_max = kBudget;
  return options;
}

// A requested payload may be in flight and have its buffer here at the same time. A payload that
// waits for its request takes no memory.
TEST(Budget, HoldsHoweverManyAgentsSendAtOnce) {
  for (const std::uint32_t agents : {12u, 40u}) {
    Federation federation(crowd(agents));
    ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
    federation.expect_identical();
    federation.expect_conserved();
    EXPECT_GT(federation.peaks().incoming, 16u << 10);
    EXPECT_LE(federation.peaks().incoming, 2 * kBudget) << agents << " agents";
  }
}

TEST(Budget, HoldsWhenMessagesAreLost) {
  Options options = crowd(12);
  options.loss = 0.05;
  options.delay_max_ns = 20 * kNsPerMs;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved();
  EXPECT_LE(federation.peaks().incoming, 3 * kBudget) << "with parts that are sent again";
}

// All 50 agents are to get the same aggregate at the same moment.
TEST(Budget, HoldsForWhatIsSentToAllAgents) {
  Options options = crowd(50);
  options.incoming_bytes_max = 16u << 20;
  Federation without(options);
  ASSERT_TRUE(without.run_to_the_end()) << without.describe();
  EXPECT_GT(without.peaks().outgoing, 8 * kBudget) << "the test sends too little";
  options.outgoing_bytes_max = kBudget;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved();
  EXPECT_LE(federation.peaks().outgoing, kBudget);
  EXPECT_GT(federation.peaks().outgoing, kBudget / 2) << "the window is used";
}

// A part takes 4 s on the links of the first two agents. The window is full of their bytes, and yet
// the others, whose links have no limit, need little longer than without a bound.
TEST(Budget, SlowLinksDelayNoOtherAgent) {
  Options options = crowd(8);
  options.policy.agents_min = 6;
  options.policy.quorum_fraction = 0.5;
  options.policy.deadline_ms = 4'000;
  options.bytes_per_s_of = [](std::uint32_t agent, bool up) {
    return agent < 2 && !up ? 500.0 : 0.0;
  };
  const auto time_with = [&](std::uint64_t outgoing_bytes_max) {
    options.outgoing_bytes_max = outgoing_bytes_max;
    Federation federation(options);
    EXPECT_TRUE(federation.run_rounds(3)) << federation.describe();
    EXPECT_LE(federation.peaks().outgoing, 3 * outgoing_bytes_max);
    return static_cast<double>(federation.now()) / 1e9;
  };
  const double without = time_with(16u << 20);
  EXPECT_LE(time_with(4u << 10), without + 5);
}

// With many agents, they receive the aggregates part by part as they ask for them.
TEST(Budget, ManyAgentsAskForTheirAggregates) {
  Options options = crowd(130);
  options.rounds = 2;
  options.payload_bytes_max = 1u << 10;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  EXPECT_EQ(federation.noted("frame_refused"), 0);
}

TEST(Budget, ManyAgentsAskAgainForLostParts) {
  Options options = crowd(130);
  options.rounds = 2;
  options.loss = 0.02;
  options.policy.quorum_fraction = 0.5;
  options.policy.agents_min = 100;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved();
}

}  // namespace
}  // namespace tributary
