#include "core/round/common/plan/plan_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/round/common/plan/small_job_testing.h"

namespace tributary {
namespace {

// 100 parameters, 7 values of an exact buffer, 200 parameters.
std::shared_ptr<const JobModel> job_with_buffer() {
  wire::JobT job = round_testing::small_job({{.name = "first", .shape = {100}},
                                             {.name = "mean", .shape = {7}},
                                             {.name = "last", .shape = {200}}});
  job.mode = wire::ExchangeMode::gradient;
  job.evaluate_every_rounds = 3;
  job.schedule = "constant:warmup=4";
  round_testing::make_exact_buffer(job, 1);
  return round_testing::job_model(std::move(job));
}

wire::PlanT plan_of(std::uint64_t round, const RoundPolicy& policy,
                    std::vector<double> ratios = {}) {
  CodecCache cache;
  const auto job = job_with_buffer();
  auto plan = build_plan(*job, policy, cache,
                         {.key = {.job = 1, .round = round, .epoch = 1, .attempt = 0},
                          .participants = Bitmap(2, true),
                          .weights = {1, 1},
                          .payload_bytes = 1u << 20,
                          .ratios = std::move(ratios)});
  EXPECT_TRUE(plan.ok()) << plan.status().text();
  return std::move(*plan);
}

TEST(BuildPlan, ExactLayersHaveBucketsOfTheirOwnInPlainFloat) {
  const wire::PlanT plan =
      plan_of(1, {.codecs = {"int8", "topk:cr=0.1"}, .bucket_values_max = 128});
  struct Wanted {
    std::uint64_t first_value;
    std::uint32_t values;
    std::string codec;
  };
  const std::vector<Wanted> wanted = {
      {0, 100, "int8"}, {100, 7, "fp32"}, {107, 128, "topk:cr=0.1"}, {235, 72, "int8"}};
  ASSERT_EQ(plan.buckets.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(plan.buckets[i]->first_value, wanted[i].first_value) << i;
    EXPECT_EQ(plan.buckets[i]->values, wanted[i].values) << i;
    EXPECT_TRUE(plan.exchanges[plan.buckets[i]->exchange]->codec.starts_with(wanted[i].codec)) << i;
  }
}

// Checks that the plan can be executed. An agent receives `ratio`; the journal stores `ratios`.
Status carried_out(const wire::PlanT& plan) {
  CodecCache cache;
  return RoundPlan::make(plan, *job_with_buffer(), cache).status();
}

TEST(BuildPlan, SharesOfTheirOwnAreForWhatAgentsChooseAlone) {
  const wire::PlanT plan = plan_of(1, {.codec = "topk:cr=0.1"}, {0.1, 0.02});
  ASSERT_EQ(plan.exchanges.size(), 2u);
  EXPECT_EQ(plan.exchanges[0]->ratios, (std::vector<double>{0.1, 0.02}));
  EXPECT_EQ(plan.exchanges[1]->codec, "fp32");
  EXPECT_TRUE(plan.exchanges[1]->ratios.empty());
  for (const auto& exchange : plan.exchanges) EXPECT_EQ(exchange->ratio, 1);
  EXPECT_TRUE(carried_out(plan).ok()) << carried_out(plan).text();
  EXPECT_TRUE(plan_of(1, {.codec = "star_topk:cr=0.1"}, {0.1, 0.02}).exchanges[0]->ratios.empty());
}

TEST(RoundPlan, AnAgentsRatioIsAtMostTheCodecsAndNotZero) {
  wire::PlanT plan = plan_of(1, {.codec = "topk:cr=0.1"});
  for (const double share : {1.0, 0.1, 0.05, 1e-6}) {
    plan.exchanges[0]->ratio = share;
    EXPECT_TRUE(carried_out(plan).ok()) << share << ": " << carried_out(plan).text();
  }
  for (const double share : {0.0, -0.1, 0.11, 0.99, 2.0, std::nan("")}) {
    plan.exchanges[0]->ratio = share;
    EXPECT_EQ(carried_out(plan).code(), StatusCode::mismatch) << share;
    plan.exchanges[0]->ratio = 1;
    plan.exchanges[0]->ratios = {0.1, share};
    EXPECT_EQ(carried_out(plan).code(), StatusCode::mismatch) << share << ", in the journal";
    plan.exchanges[0]->ratios.clear();
  }
}

TEST(RoundPlan, SharesAreRefusedWherePlacesAreNotAnAgentsOwn) {
  wire::PlanT agreed = plan_of(1, {.codec = "star_topk:cr=0.1"});
  agreed.exchanges[0]->ratio = 0.05;
  EXPECT_EQ(carried_out(agreed).code(), StatusCode::mismatch);
  wire::PlanT all = plan_of(1, {.codec = "fp32"});
  all.exchanges[0]->ratio = 0.5;
  EXPECT_EQ(carried_out(all).code(), StatusCode::mismatch);
  wire::PlanT peers = plan_of(1, {.codec = "topk:cr=0.1"});
  for (const auto& exchange : peers.exchanges) {
    exchange->collective = wire::Collective::all_gather;
  }
  EXPECT_TRUE(carried_out(peers).ok()) << carried_out(peers).text();
  peers.exchanges[0]->ratio = 0.05;
  EXPECT_EQ(carried_out(peers).code(), StatusCode::mismatch);
}

TEST(BuildPlan, TheScheduleSetsTheRateAndEvaluationsComeEveryFewRounds) {
  const RoundPolicy policy = {.learning_rate = 2};
  EXPECT_EQ(plan_of(1, policy).learning_rate, 0.5);
  EXPECT_EQ(plan_of(9, policy).learning_rate, 2);
  EXPECT_TRUE(plan_of(1, policy).evaluate) << "the model of version 0";
  EXPECT_FALSE(plan_of(2, policy).evaluate);
  EXPECT_TRUE(plan_of(4, policy).evaluate);
}

}  // namespace
}  // namespace tributary
