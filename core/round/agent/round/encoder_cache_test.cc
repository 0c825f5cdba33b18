// Tests of the cache of encoders. An encoder has a state over rounds, so it may be reused only for
// the same codec and the same values.
#include "core/round/agent/round/encoder_cache.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;

TEST(EncoderCache, KeepsAnEncoderOfTheSameCodecAndPlace) {
  AgentParts agent;
  agent.have_model();
  const auto plan = agent.round_plan(1);
  const auto other = agent.round_plan(2, {.codec = "int8"});
  EncoderCache cache;
  EXPECT_EQ(cache.find(plan->buckets()[0]), nullptr);
  const Encoder* first = &cache.get(plan->buckets()[0], 1);
  EXPECT_EQ(&cache.get(plan->buckets()[0], 1), first);
  EXPECT_NE(&cache.get(plan->buckets()[1], 1), first);
  EXPECT_EQ(cache.find(plan->buckets()[0]), first);
  EXPECT_EQ(cache.find(other->buckets()[0]), nullptr);
  cache.clear();
  EXPECT_EQ(cache.find(plan->buckets()[0]), nullptr);
}

}  // namespace
}  // namespace tributary
