// Tests that the bytes which agents send at the same time stay within the coordinator's budget.
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
    EXPECT_GT(federation.incoming_bytes_peak(), 16u << 10);
    EXPECT_LE(federation.incoming_bytes_peak(), 2 * kBudget) << agents << " agents";
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
  EXPECT_LE(federation.incoming_bytes_peak(), 3 * kBudget) << "with parts that are sent again";
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
