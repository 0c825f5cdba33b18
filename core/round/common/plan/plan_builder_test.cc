// Tests of building a plan from a job and a policy, and of reading it again: buckets, ratios,
// schedules and whole layers.
#include "core/round/common/plan/plan_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/round/common/plan/small_job_testing.h"
#include "schemas/limits.h"

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
  struct ExpectedBucket {
    std::uint64_t first_value;
    std::uint32_t values;
    std::string codec;
  };
  const std::vector<ExpectedBucket> expected = {
      {0, 100, "int8"}, {100, 7, "fp32"}, {107, 128, "topk:cr=0.1"}, {235, 72, "int8"}};
  ASSERT_EQ(plan.buckets.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(plan.buckets[i]->first_value, expected[i].first_value) << i;
    EXPECT_EQ(plan.buckets[i]->values, expected[i].values) << i;
    EXPECT_TRUE(plan.exchanges[plan.buckets[i]->exchange]->codec.starts_with(expected[i].codec))
        << i;
  }
}

// --- fusion ------------------------------------------------------------------------------------

Result<wire::PlanT> fused_plan(const RoundPolicy& policy, std::vector<std::uint32_t> groups = {}) {
  CodecCache cache;
  return build_plan(*job_with_buffer(), policy, cache,
                    {.key = {.job = 1, .round = 1, .epoch = 1, .attempt = 0},
                     .participants = Bitmap(2, true),
                     .weights = {1, 1},
                     .payload_bytes = 1u << 20,
                     .groups = std::move(groups)});
}

std::vector<std::uint32_t> sizes_of(const wire::PlanT& plan) {
  std::vector<std::uint32_t> sizes;
  for (const auto& bucket : plan.buckets) sizes.push_back(bucket->values);
  return sizes;
}

// The exact buffer between the layers stays alone, and the largest bucket does not bound a group.
TEST(BuildPlan, FusionMakesBucketsOfWholeLayers) {
  for (const std::string fusion : {"layerwise", "whole", "even:2", "even:9"}) {
    const auto plan =
        fused_plan({.codec = "topk:cr=0.1", .bucket_values_max = 64, .fusion = fusion});
    ASSERT_TRUE(plan.ok()) << plan.status().text();
    EXPECT_EQ(sizes_of(*plan), (std::vector<std::uint32_t>{100, 7, 200})) << fusion;
    EXPECT_NE(plan->reason->sentence.find("fusion = \"" + fusion + "\""), std::string::npos);
    CodecCache cache;
    const auto made = RoundPlan::make(*plan, *job_with_buffer(), cache);
    ASSERT_TRUE(made.ok()) << made.status().text();
    EXPECT_EQ(fused_buckets(*job_with_buffer(), **made), 2u);
  }
}

TEST(BuildPlan, OptimalFusionTakesTheGroupsOfTheRequest) {
  const RoundPolicy policy = {.codec = "fp32", .fusion = "optimal"};
  EXPECT_EQ(fused_plan(policy)->reason->sentence,
            "as the job's policy says; fusion = \"optimal\": 2 groups of 2 layers");
  EXPECT_EQ(fused_plan(policy, {2})->reason->sentence,
            "as the job's policy says; fusion = \"optimal\": 1 group of 2 layers");
  for (const std::vector<std::uint32_t>& groups :
       std::vector<std::vector<std::uint32_t>>{{1}, {3}, {1, 1, 1}, {2, 1}, {0, 2}}) {
    EXPECT_EQ(fused_plan(policy, groups).status().code(), StatusCode::invalid_argument);
  }
}

TEST(BuildPlan, MoreGroupsThanARoundMayHaveBucketsAreRefused) {
  std::vector<LayerShape> shapes;
  for (std::uint32_t i = 0; i <= wire::kBucketsMax; ++i) {
    shapes.push_back({.name = std::to_string(i), .shape = {1}});
  }
  const auto job = round_testing::job_model(round_testing::small_job(shapes));
  CodecCache cache;
  const PlanRequest request = {.key = {.job = 1, .round = 1, .epoch = 1, .attempt = 0},
                               .participants = Bitmap(2, true),
                               .weights = {1, 1},
                               .payload_bytes = 1u << 20};
  EXPECT_EQ(build_plan(*job, {.fusion = "layerwise"}, cache, request).status().code(),
            StatusCode::resource_exhausted);
  EXPECT_TRUE(build_plan(*job, {.fusion = "even:16384"}, cache, request).ok());
}

// --- sums in the network -----------------------------------------------------------------------

wire::PlanT plan_of_three_agents(const RoundPolicy& policy, wire::Collective collective) {
  CodecCache cache;
  const auto job =
      round_testing::job_model(round_testing::small_job({{.name = "v", .shape = {20'000}}}));
  auto plan = build_plan(*job, policy, cache,
                         {.key = {.job = 1, .round = 1, .epoch = 1, .attempt = 0},
                          .participants = Bitmap(3, true),
                          .weights = {1, 1, 1},
                          .payload_bytes = 1u << 20,
                          .collective = collective});
  EXPECT_TRUE(plan.ok()) << plan.status().text();
  return std::move(*plan);
}

// The star that stands in has the same results. A job by the star has other buckets, and so other
// random numbers, unless its settings name the same ones (docs/in_network.md).
TEST(SumsInTheNetwork, HaveTheBucketsAndTheCodecOfTheStarThatStandsIn) {
  const RoundPolicy policy = {.codec = "thc", .collective = wire::Collective::in_network};
  const wire::PlanT summed = plan_of_three_agents(policy, wire::Collective::in_network);
  const wire::PlanT stands_in = plan_of_three_agents(policy, wire::Collective::star);
  EXPECT_EQ(sizes_of(summed), (std::vector<std::uint32_t>{4032, 4032, 4032, 3968, 3936}));
  EXPECT_EQ(sizes_of(stands_in), sizes_of(summed));
  EXPECT_EQ(stands_in.exchanges[0]->codec, summed.exchanges[0]->codec);

  const wire::PlanT by_star = plan_of_three_agents({.codec = "thc"}, wire::Collective::star);
  EXPECT_EQ(sizes_of(by_star), std::vector<std::uint32_t>{20'000});
  const wire::PlanT same = plan_of_three_agents({.codec = "thc:down=8", .bucket_values_max = 4096},
                                                wire::Collective::star);
  EXPECT_EQ(sizes_of(same), sizes_of(summed));
  EXPECT_EQ(same.exchanges[0]->codec, summed.exchanges[0]->codec);
}

// Checks that the plan can be executed. An agent receives `ratio`; the journal stores `ratios`.
Status carried_out(const wire::PlanT& plan) {
  CodecCache cache;
  return RoundPlan::make(plan, *job_with_buffer(), cache).status();
}

TEST(BuildPlan, SeparateRatiosRequireThatAgentsChooseAlone) {
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

// --- codecs of whole layers --------------------------------------------------------------------

// A matrix of 100 rows, an exact buffer, a convolution of 16 filters, a vector.
std::shared_ptr<const JobModel> job_with_matrices() {
  wire::JobT job = round_testing::small_job({{.name = "first.weight", .shape = {100, 50}},
                                             {.name = "mean", .shape = {7}},
                                             {.name = "convolution", .shape = {16, 8, 3, 3}},
                                             {.name = "bias", .shape = {10}}});
  round_testing::make_exact_buffer(job, 1);
  return round_testing::job_model(std::move(job));
}

wire::PlanT plan_of_matrices(const RoundPolicy& policy, std::uint32_t members = 2) {
  CodecCache cache;
  auto plan = build_plan(*job_with_matrices(), policy, cache,
                         {.key = {.job = 1, .round = 1, .epoch = 1, .attempt = 0},
                          .participants = Bitmap(members, true),
                          .weights = std::vector<double>(members, 1),
                          .payload_bytes = 1u << 20,
                          .collective = policy.collective});
  EXPECT_TRUE(plan.ok()) << plan.status().text();
  return std::move(*plan);
}

Status accepted(const wire::PlanT& plan) {
  CodecCache cache;
  return RoundPlan::make(plan, *job_with_matrices(), cache).status();
}

// The layers of each bucket, as codecs receive them.
std::vector<std::vector<LayerRun>> runs_of(const wire::PlanT& plan) {
  CodecCache cache;
  const auto made = RoundPlan::make(plan, *job_with_matrices(), cache);
  EXPECT_TRUE(made.ok()) << made.status().text();
  std::vector<std::vector<LayerRun>> runs;
  for (const PlannedBucket& bucket : (*made)->buckets()) runs.push_back(bucket.layers);
  return runs;
}

using Runs = std::vector<std::vector<LayerRun>>;
const Runs kWholeMatrices = {{{0, 5000, 100}}, {{0, 7, 1}}, {{0, 1152, 16}}, {{0, 10, 1}}};

TEST(WholeLayersInAPlan, AreWholeByTheStarAndByARing) {
  for (const auto collective : {wire::Collective::star, wire::Collective::sharded_star,
                                wire::Collective::ring, wire::Collective::all_gather}) {
    const wire::PlanT plan = plan_of_matrices(
        {.codec = "powersgd", .bucket_values_max = 64, .collective = collective}, 4);
    EXPECT_EQ(runs_of(plan), kWholeMatrices) << wire::EnumNameCollective(collective);
    EXPECT_EQ(plan.exchanges[0]->layer_values, RoundPolicy().layer_values_max);
    EXPECT_EQ(plan.exchanges[1]->layer_values, 0u) << "fp32 for the exact layers";
  }
}

TEST(WholeLayersInAPlan, FollowFromTheCodec) {
  for (const std::string codec :
       {"powersgd:rank=1", "threelc:block=0", "stoch3", "terngrad", "topk:cr=0.1,scope=layer"}) {
    EXPECT_EQ(runs_of(plan_of_matrices({.codec = codec, .bucket_values_max = 64})), kWholeMatrices)
        << codec;
  }
  const wire::PlanT anywhere = plan_of_matrices({.codec = "int8", .bucket_values_max = 64});
  for (const std::string codec :
       {"threelc:block=64", "topk:cr=0.1", "onebit", "thc", "gcomp", "dgc"}) {
    const wire::PlanT plan = plan_of_matrices({.codec = codec, .bucket_values_max = 64});
    EXPECT_EQ(runs_of(plan), runs_of(anywhere)) << codec;
    EXPECT_EQ(plan.exchanges[0]->layer_values, 0u) << codec;
  }
}

TEST(WholeLayersInAPlan, AreCutBetweenRowsAboveTheirBound) {
  const wire::PlanT plan =
      plan_of_matrices({.codec = "powersgd", .bucket_values_max = 100, .layer_values_max = 1000});
  EXPECT_EQ(runs_of(plan), (Runs{{{0, 1000, 20}},
                                 {{0, 1000, 20}},
                                 {{0, 1000, 20}},
                                 {{0, 1000, 20}},
                                 {{0, 1000, 20}},
                                 {{0, 7, 1}},
                                 {{0, 576, 8}},
                                 {{0, 576, 8}},
                                 {{0, 10, 1}}}));
}

// Buckets that close at the usual size would divide the matrix for the other codec.
TEST(WholeLayersInAPlan, HoldForAllCodecsInRotation) {
  const wire::PlanT plan =
      plan_of_matrices({.codecs = {"int8", "powersgd"}, .bucket_values_max = 64});
  EXPECT_EQ(runs_of(plan), kWholeMatrices);
}

TEST(WholeLayersInAPlan, BoundTheMemoryForABucket) {
  CodecCache cache;
  const auto job = job_with_matrices();
  const RoundPolicy policy = {.codec = "powersgd", .bucket_values_max = 100};
  EXPECT_EQ(bucket_values_bound(*job, policy, cache), 5000u);
  EXPECT_EQ(bucket_values_bound(*job, {.codec = "int8", .bucket_values_max = 100}, cache), 100u);
  EXPECT_EQ(
      bucket_values_bound(
          *job, {.codec = "powersgd", .bucket_values_max = 100, .layer_values_max = 700}, cache),
      700u);
}

// Moves the end of bucket 0 and the beginning of bucket 1.
void move_end(wire::PlanT& plan, std::uint32_t values) {
  plan.buckets[1]->first_value += values;
  plan.buckets[1]->values -= values;
  plan.buckets[0]->values += values;
}

void expect_refused(const wire::PlanT& plan, const std::string& text) {
  const Status status = accepted(plan);
  EXPECT_EQ(status.code(), StatusCode::mismatch);
  EXPECT_NE(status.text().find(text), std::string::npos) << status.text();
}

TEST(WholeLayersInAPlan, RefuseBoundariesThatDoNotFit) {
  const RoundPolicy policy = {
      .codec = "powersgd", .bucket_values_max = 100, .layer_values_max = 1000};
  wire::PlanT plan = plan_of_matrices(policy);
  EXPECT_TRUE(accepted(plan).ok());
  move_end(plan, 50);
  EXPECT_TRUE(accepted(plan).ok()) << "another row";
  move_end(plan, 1);
  expect_refused(plan, "a cut at a multiple of 50 values");
  expect_refused(plan, "a cut at its value 1051");
  plan = plan_of_matrices(policy);
  plan.exchanges[0]->layer_values = 5000;
  expect_refused(plan, "layer 'first.weight'");
  expect_refused(plan, "all of its 5000 values in one bucket");
  plan = plan_of_matrices({.codec = "int8", .bucket_values_max = 100});
  plan.exchanges[0]->layer_values = 1000;
  expect_refused(plan, "the codec accepts any division");
}

// A journal of an earlier build holds plans that divide layers anywhere. Their payloads were
// encoded with parts of layers as vectors.
TEST(WholeLayersInAPlan, PlansOfAnEarlierBuildKeepTheirMeaning) {
  wire::PlanT plan =
      plan_of_matrices({.codec = "powersgd", .bucket_values_max = 100, .layer_values_max = 1000});
  EXPECT_EQ(runs_of(plan)[0], (std::vector<LayerRun>{{0, 1000, 20}}));
  plan.exchanges[0]->layer_values = 0;
  EXPECT_EQ(runs_of(plan)[0], (std::vector<LayerRun>{{0, 1000, 1}}));
  move_end(plan, 1);
  EXPECT_TRUE(accepted(plan).ok());
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
