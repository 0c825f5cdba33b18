// Tests of a plan as a codec reads it: the optimizer's view of a bucket, and the weight by which
// values were multiplied.
#include "core/round/common/plan/round_plan.h"

#include "core/round/common/plan/plan_builder.h"
#include "core/round/common/plan/small_job_testing.h"

namespace tributary {
namespace {

using round_testing::kSmallJob;
using round_testing::kSmallValues;

// A round of two agents with these weights.
class SomeRoundPlan : public testing::Test {
 protected:
  void make(wire::ExchangeMode mode, const std::vector<double>& weights) {
    wire::JobT job = round_testing::small_job();
    job.mode = mode;
    job.weighting = wire::Weighting::examples;
    job_ = round_testing::job_model(std::move(job));
    RoundPolicy policy;
    policy.codec = "gcomp";
    policy.bucket_values_max = 64;
    policy.learning_rate = 0.25;
    const auto wire = build_plan(*job_, policy, codecs_,
                                 {.key = {.job = kSmallJob, .round = 1, .epoch = 1},
                                  .participants = Bitmap(2, true),
                                  .weights = weights,
                                  .payload_bytes = 1024,
                                  .collective = wire::Collective::star});
    ASSERT_TRUE(wire.ok()) << wire.status().text();
    auto plan = RoundPlan::make(*wire, *job_, codecs_);
    ASSERT_TRUE(plan.ok()) << plan.status().text();
    plan_ = *plan;
    auto rule = make_model_rule(job_->wire());
    ASSERT_TRUE(rule.ok()) << rule.status().text();
    rule_ = std::move(*rule);
  }
  std::optional<OptimizerView> view(std::size_t bucket) {
    return encoder_view(*plan_, plan_->buckets()[bucket], *rule_, model_);
  }

  CodecCache codecs_;
  std::shared_ptr<const JobModel> job_;
  std::shared_ptr<const RoundPlan> plan_;
  std::unique_ptr<ModelRule> rule_;
  FloatVector model_ = FloatVector(kSmallValues, 1.0f);
};

TEST_F(SomeRoundPlan, ShowsAnEncoderItsBucketsPartOfTheModel) {
  make(wire::ExchangeMode::gradient, {1, 1});
  model_[64] = 7;
  const auto second = view(1);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->parameters.size(), plan_->buckets()[1].values);
  EXPECT_EQ(second->parameters[0], 7);
  EXPECT_EQ(second->learning_rate, 0.25f);
}

// Two agents with a weight of 2 send twice their gradients, and the sum is divided by 4.
TEST_F(SomeRoundPlan, TakesTheMeanWeightOutOfAValue) {
  make(wire::ExchangeMode::gradient, {1, 3});
  EXPECT_EQ(view(0)->value_scale, 0.5f);
  make(wire::ExchangeMode::delta, {1, 3});
  EXPECT_EQ(view(0)->value_scale, -0.5f);
}

// --- sums in the network ---

// A plan of four agents whose levels an aggregator adds; the second layer is exact.
class NetworkRoundPlan : public testing::Test {
 protected:
  NetworkRoundPlan() {
    wire::JobT job = round_testing::small_job(
        {{.name = "v", .shape = {kSmallValues}}, {.name = "counts", .shape = {64}}});
    round_testing::make_exact_buffer(job, 1);
    job_ = round_testing::job_model(std::move(job));
    request_.key = {.job = kSmallJob, .round = 1, .epoch = 1};
    request_.participants = Bitmap(4, true);
    request_.weights = {1, 1, 1, 1};
    request_.payload_bytes = 1024;
    request_.collective = wire::Collective::in_network;
    request_.aggregator = "10.0.0.1:4650";
    const auto table = thc::network_table(*thc::network_codec("thc", 4), 4);
    EXPECT_TRUE(table.ok()) << table.status().text();
    request_.sums.epoch = 1;
    request_.sums.agents = 4;
    request_.sums.slot_count = 8;
    request_.sums.table = table->fingerprint;
    request_.sums.check_secret = 5;
  }
  wire::PlanT built() {
    RoundPolicy policy;
    policy.codec = "thc";
    policy.collective = wire::Collective::in_network;
    auto wire = build_plan(*job_, policy, codecs_, request_);
    EXPECT_TRUE(wire.ok()) << wire.status().text();
    return std::move(*wire);
  }
  StatusCode refused(const std::function<void(wire::PlanT&)>& spoil) {
    wire::PlanT plan = built();
    spoil(plan);
    return RoundPlan::make(plan, *job_, codecs_).status().code();
  }

  CodecCache codecs_;
  std::shared_ptr<const JobModel> job_;
  PlanRequest request_;
};

TEST_F(NetworkRoundPlan, OnlyTheLastStageOfTheCodecIsInTheNetwork) {
  const auto made = RoundPlan::make(built(), *job_, codecs_);
  ASSERT_TRUE(made.ok()) << made.status().text();
  const RoundPlan& plan = **made;
  EXPECT_TRUE(plan.in_network());
  EXPECT_TRUE(plan.by_members());
  ASSERT_EQ(plan.buckets().size(), 2u);
  EXPECT_EQ(plan.buckets()[0].codec->spec(), "thc:down=8");
  EXPECT_TRUE(plan.by_coordinator(plan.buckets()[0], 0));
  EXPECT_FALSE(plan.by_coordinator(plan.buckets()[0], 1));
  EXPECT_EQ(plan.buckets()[1].codec->spec(), "fp32");
  EXPECT_TRUE(plan.by_coordinator(plan.buckets()[1], 0));
  EXPECT_EQ(plan.aggregator(), "10.0.0.1:4650");
  EXPECT_EQ(plan.sums().check_secret, 5u);
}

// The star that stands in has the same results, so it has the same codec.
TEST_F(NetworkRoundPlan, TheStarStandsInWithTheSameWidthOfSums) {
  request_.collective = wire::Collective::star;
  const auto made = RoundPlan::make(built(), *job_, codecs_);
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ((*made)->buckets()[0].codec->spec(), "thc:down=8");
  EXPECT_TRUE((*made)->by_coordinator((*made)->buckets()[0], 1));
}

TEST_F(NetworkRoundPlan, ATableOrANumberOfAgentsThatDiffersIsRefused) {
  const auto mismatch = StatusCode::mismatch;
  EXPECT_EQ(refused([](auto& plan) { plan.exchanges[0]->sums->table ^= 1; }), mismatch);
  EXPECT_EQ(refused([](auto& plan) { plan.exchanges[0]->sums->wide = true; }), mismatch);
  EXPECT_EQ(refused([](auto& plan) { plan.exchanges[0]->sums->agents = 3; }), mismatch);
  EXPECT_EQ(refused([](auto& plan) { plan.exchanges[0]->sums.reset(); }), mismatch);
  EXPECT_EQ(refused([](auto& plan) { plan.exchanges_per_round = 2; }), mismatch);
  EXPECT_EQ(refused([](auto& plan) {
              plan.exchanges[1]->sums =
                  std::make_unique<wire::SumsInNetworkT>(*plan.exchanges[0]->sums);
            }),
            StatusCode::unsupported)
      << "fp32 has no levels";
}

}  // namespace
}  // namespace tributary
