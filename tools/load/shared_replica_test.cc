// Tests of the replica that many agents of one process share as long as they are equal.
#include "tools/load/shared_replica.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/round/common/plan/plan_builder.h"
#include "core/round/common/session/conversation.h"

namespace tributary {
namespace {

constexpr std::uint32_t kReplicaValues = 200;
constexpr std::uint32_t kReplicaAgents = 4;

class SharedReplicaTest : public testing::Test {
 protected:
  void SetUp() override {
    wire::JobT job;
    job.job = 1;
    job.revision = 1;
    job.name = "load";
    job.state = wire::JobState::running;
    job.mode = wire::ExchangeMode::delta;
    job.rounds = 10;
    job.weighting = wire::Weighting::equal;
    job.model = std::make_unique<wire::ModelT>();
    job.model->kind = wire::ModelKind::built_in;
    job.model->name = "none";
    job.optimizer = std::make_unique<wire::OptimizerT>();
    job.optimizer->kind = wire::OptimizerKind::sgd;
    job.layer_map = wire_layers(*LayerMap::make({{.name = "v", .shape = {kReplicaValues}}}));
    auto definition = keep_message(std::move(job));
    ASSERT_TRUE(definition.ok()) << definition.status().text();
    auto model = JobModel::make(std::move(*definition));
    ASSERT_TRUE(model.ok()) << model.status().text();
    job_ = *std::move(model);
    ASSERT_TRUE(replica_.take_job(job_->wire()).ok());
  }

  // The plan of a round, as one agent receives it.
  Bytes plan_for(double share, std::uint64_t round = 1, const std::string& codec = "topk:cr=0.1") {
    CodecCache cache;
    auto plan = build_plan(*job_, {.codec = codec}, cache,
                           {.key = {.job = 1, .round = round, .epoch = 1, .attempt = 0},
                            .model_hash = 1,
                            .participants = Bitmap(kReplicaAgents, true),
                            .weights = std::vector<double>(kReplicaAgents, 1.0),
                            .payload_bytes = 1u << 20,
                            .ratios = {}});
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    plan->weight = 1;
    plan->exchanges[0]->ratio = share;
    wire::FrameT frame = frame_with(std::move(*plan));
    frame.session = frame.message_id = 1;
    Result<Bytes> bytes = build_frame(frame);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    return bytes.ok() ? *std::move(bytes) : Bytes();
  }
  std::shared_ptr<SharedRound> round_of(const Bytes& frame) {
    const Result<const wire::Frame*> opened = open_frame(frame);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    const auto plan = replica_.plan_of(*(*opened)->message_as_Plan());
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    return plan.ok() ? replica_.round_of(*plan) : nullptr;
  }
  // Returns the number of values in this agent's payload.
  std::ptrdiff_t kept(SharedRound& round, std::uint32_t number, double share) {
    auto payload =
        replica_.payload(round, {.number = number, .rank = number, .keep = share}, 0, {});
    EXPECT_TRUE(payload.ok()) << payload.status().text();
    if (!payload.ok() || !*payload) return -1;
    FloatVector values(kReplicaValues);
    const PlannedBucket& bucket = round.plan->buckets()[0];
    EXPECT_TRUE(bucket.codec->decode({.round = {.agents = 1}}, **payload, values).ok());
    return std::ranges::count_if(values, [](float x) { return x != 0; });
  }

  std::shared_ptr<const JobModel> job_;
  SharedReplica replica_{kReplicaValues, kReplicaAgents};
};

// Agents receive the parts in an order of their own, so that a gap may lie before a repeated part.
TEST(SharedPayload, ComparesAllBytesThatAnotherAgentReceived) {
  SharedPayload payload(8);
  const Bytes bytes = {0, 1, 2, 3, 4, 5, 6, 7};
  const ByteSpan all = bytes;
  ASSERT_TRUE(payload.take(8, 4, all.subspan(4, 2)).ok());
  Bytes other = bytes;
  other[5] = 50;
  EXPECT_EQ(payload.take(8, 3, ByteSpan(other).subspan(3)).code(), StatusCode::mismatch);
  EXPECT_EQ(payload.take(8, 0, other).code(), StatusCode::mismatch);
  other = bytes;
  other[7] = 70;
  EXPECT_TRUE(payload.take(8, 0, all).ok());
  ASSERT_TRUE(payload.whole());
  EXPECT_EQ(*payload.whole(), bytes);
  EXPECT_EQ(payload.take(8, 6, ByteSpan(other).subspan(6)).code(), StatusCode::mismatch);
  EXPECT_TRUE(payload.take(8, 6, all.subspan(6)).ok());
}

// The plan object is made only once, from the message of the first agent.
TEST_F(SharedReplicaTest, EachAgentKeepsTheShareOfItsOwnPlan) {
  const auto round = round_of(plan_for(0.02));
  ASSERT_TRUE(round);
  EXPECT_EQ(round_of(plan_for(1)), round);
  EXPECT_EQ(kept(*round, 0, 0.02), 4);
  EXPECT_EQ(kept(*round, 1, 1), 20) << "what the codec keeps";
  EXPECT_EQ(kept(*round, 2, 0.05), 10) << "of the update that the first has sent";
  EXPECT_EQ(kept(*round, 0, 0.02), 4) << "once more";
  EXPECT_EQ(round->encoded.size(), 3u);
  EXPECT_EQ(kept(*round, 2, 0.02), 4);
  EXPECT_EQ(round->encoded.size(), 3u) << "the same payload serves two";
}

// A ratio outside the codec's range is refused, and so is any ratio for a codec without ratios.
TEST_F(SharedReplicaTest, AShareThatTheCodecDoesNotHaveIsRefused) {
  const auto round = round_of(plan_for(1));
  ASSERT_TRUE(round);
  for (const double share : {0.0, -1.0, 0.5, std::nan("")}) {
    EXPECT_EQ(replica_.payload(*round, {.keep = share}, 0, {}).status().code(),
              StatusCode::mismatch)
        << share;
  }
  const auto dense = round_of(plan_for(1, 2, "fp16"));
  ASSERT_TRUE(dense);
  EXPECT_EQ(replica_.payload(*dense, {.keep = 0.5}, 0, {}).status().code(), StatusCode::mismatch);
  EXPECT_EQ(kept(*dense, 0, 1), static_cast<std::ptrdiff_t>(kReplicaValues));
}

}  // namespace
}  // namespace tributary
