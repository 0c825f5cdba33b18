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

}  // namespace
}  // namespace tributary
