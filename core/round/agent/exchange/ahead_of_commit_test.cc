// Tests of the model on which an agent trains while the commit of its last exchange is still on the
// way. The replica itself must not change before the commit.
#include "core/round/agent/exchange/ahead_of_commit.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;
using round_testing::by_bucket;
using round_testing::kBucketValues;

TEST(AheadOfCommit, StartsTheNextInputWithTheResidual) {
  AgentParts agent;
  agent.have_model();
  EncoderCache encoders;
  FloatVector scratch;
  AheadOfCommit ahead(agent.context, agent.replica, encoders, scratch);
  EXPECT_FALSE(ahead.begun());
  ahead.leave({{.bucket = 1,
                .first_value = kBucketValues,
                .values = kBucketValues,
                .if_committed = std::make_shared<const FloatVector>(kBucketValues, 2.0f)},
               {.bucket = 0, .first_value = 0, .values = kBucketValues, .if_committed = nullptr}});
  EXPECT_EQ(*ahead.input(), by_bucket(0, 2));
  const auto held = ahead.input();
  ahead.add_to_input(*all(1), 3);
  EXPECT_EQ(*ahead.input(), by_bucket(3, 5));
  EXPECT_EQ((*held)[0], 0) << "a shared input stays as it was";
  ahead.clear();
  EXPECT_EQ(ahead.input(), nullptr);
}

// Payloads of plain floats are the results of the exchange.
TEST(AheadOfCommit, LeavesTheReplicaAsItIs) {
  AgentParts agent;
  agent.have_model(0, 1);
  EncoderCache encoders;
  FloatVector scratch;
  AheadOfCommit ahead(agent.context, agent.replica, encoders, scratch);
  AgentRound round(
      agent.round_plan(1, {.members = 1, .collective = wire::Collective::ring, .exchanges = 2}));
  const FloatVector update(kBucketValues, 0.5f);
  for (const PlannedBucket& bucket : round.plan().buckets_of(0)) {
    Bytes payload;
    const StageCall call = {.round = round.plan().context(bucket, 0)};
    ASSERT_TRUE(encoders.get(bucket, 1).encode(call, update, payload).ok());
    EXPECT_FALSE(ahead.has_next(round));
    round.work()[bucket.index].combined = {std::make_shared<const Bytes>(payload)};
    EXPECT_FALSE(ahead.has_next(round)) << "perhaps not of all participants";
    round.work()[bucket.index].of_all = true;
    ASSERT_TRUE(ahead.has_next(round));
    if (bucket.index == 0) {
      ASSERT_TRUE(ahead.apply_next(round).ok());
    }
  }
  ASSERT_TRUE(ahead.finish(round, 0).ok());
  EXPECT_TRUE(ahead.begun());
  EXPECT_FALSE(ahead.complete(round)) << "the second exchange";
  EXPECT_EQ(*agent.replica.model(), *all(1));
  EXPECT_NE(*ahead.model(), *all(1));
}

}  // namespace
}  // namespace tributary
