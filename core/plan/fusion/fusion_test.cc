// Tests of planning groups of tensors. References are brute force for short profiles, Pareto sets
// and the paper's search for longer ones.
#include "core/plan/fusion/fusion.h"

#include <gmock/gmock.h>

#include <numeric>

#include "core/plan/fusion/fusion_baselines.h"
#include "core/plan/fusion/fusion_profiles_testing.h"
#include "core/plan/fusion/fusion_testing.h"

namespace tributary {
namespace {

using fusion_testing::Decode;
using fusion_testing::ProfileDraws;
using testing::ElementsAre;

FusionPlan plan(const FusionProfile& profile, const FusionLimits& limits = {}) {
  const Result<FusionPlan> plan = plan_fusion(profile, limits);
  EXPECT_TRUE(plan.ok()) << plan.status().text();
  return plan.ok() ? *plan : FusionPlan();
}

// Checks that the groups are a valid plan whose iteration takes the stated time.
void expect_consistent(const FusionProfile& profile, const FusionPlan& plan) {
  EXPECT_EQ(std::accumulate(plan.groups.begin(), plan.groups.end(), std::size_t{0}),
            profile.bytes.size());
  EXPECT_THAT(plan.groups, testing::Each(testing::Gt(0u)));
  EXPECT_EQ(plan.iteration_s, fused_iteration_s(FusionTimes(profile), plan.groups));
}

class AgainstBruteForce : public testing::TestWithParam<Decode> {};

// The plan must have exactly the same time and the least number of groups for it.
TEST_P(AgainstBruteForce, ExactNumbers) {
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    ProfileDraws draws(seed);
    const std::size_t tensors = 1 + draws.below(seed % 40 == 0 ? 14 : 9);
    const FusionProfile profile = draws.exact(tensors, GetParam());
    const FusionPlan best = fusion_testing::brute_force(profile);
    const FusionPlan found = plan(profile);
    expect_consistent(profile, found);
    ASSERT_TRUE(found.optimal);
    ASSERT_EQ(found.iteration_s, best.iteration_s) << seed;
    ASSERT_EQ(found.groups.size(), best.groups.size()) << seed;
  }
}

TEST_P(AgainstBruteForce, RoundedNumbers) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    ProfileDraws draws(seed);
    const FusionProfile profile = draws.rounded(1 + draws.below(12), GetParam());
    const FusionPlan best = fusion_testing::brute_force(profile);
    const FusionPlan found = plan(profile);
    expect_consistent(profile, found);
    ASSERT_NEAR(found.iteration_s, best.iteration_s, 1e-14 * best.iteration_s) << seed;
  }
}

// 2^13 cuts are the most that brute force can try in a test.
TEST_P(AgainstBruteForce, LargestThatIsTried) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const FusionProfile profile = ProfileDraws(seed).exact(14, GetParam());
    const FusionPlan best = fusion_testing::brute_force(profile);
    const FusionPlan found = plan(profile);
    ASSERT_EQ(found.iteration_s, best.iteration_s) << seed;
    ASSERT_EQ(found.groups.size(), best.groups.size()) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Fusion, AgainstBruteForce, testing::Values(Decode::none, Decode::some));

// Without decoding, the plan equals the recurrence computed cell by cell.
TEST(Fusion, MatchesThePlainRecurrence) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    ProfileDraws draws(seed);
    const FusionProfile profile = draws.exact(60 + draws.below(60), Decode::none);
    ASSERT_EQ(plan(profile).iteration_s, fusion_testing::plain_recurrence_s(profile)) << seed;
  }
}

// With decoding, the plan equals the exact search with Pareto sets.
TEST(Fusion, MatchesParetoSets) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    ProfileDraws draws(seed);
    const FusionProfile profile = draws.exact(15 + draws.below(25), Decode::some);
    ASSERT_EQ(plan(profile).iteration_s, fusion_testing::pareto_sets(profile).iteration_s) << seed;
  }
}

TEST(Fusion, MatchesParetoSetsOfALongerModel) {
  const FusionProfile profile = fusion_testing::like_a_gather(60);
  const FusionPlan found = plan(profile);
  expect_consistent(profile, found);
  const double best_s = fusion_testing::pareto_sets(profile).iteration_s;
  EXPECT_NEAR(found.iteration_s, best_s, 1e-14 * best_s);
}

// The paper's search can be slow. Only cases that it finishes within a bound of calls are compared,
// which are nearly all.
TEST(Fusion, MatchesThePapersSearch) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    ProfileDraws draws(seed);
    const FusionProfile profile = draws.exact(15 + draws.below(16), Decode::none);
    const FusionPlan best = fusion_testing::PaperSearch(profile, 200'000).run();
    if (!best.optimal) continue;
    ++compared;
    ASSERT_EQ(plan(profile).iteration_s, best.iteration_s) << seed;
  }
  EXPECT_GT(compared, 200);
}

// Every rule is a special case of the planner's cuts.
TEST(Fusion, NeverWorseThanARule) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    ProfileDraws draws(seed);
    const FusionProfile profile =
        draws.exact(1 + draws.below(100), seed % 2 == 0 ? Decode::none : Decode::some);
    const double planned_s = plan(profile).iteration_s;
    for (const FusionBaseline& rule : fusion_baselines(FusionTimes(profile))) {
      ASSERT_LE(planned_s, rule.iteration_s) << rule.name << ' ' << seed;
    }
  }
}

TEST(Fusion, ASecondTimeTheSame) {
  const FusionProfile profile = fusion_testing::like_a_gather(200);
  EXPECT_EQ(plan(profile).groups, plan(profile).groups);
}

// Without start-up costs no cut does harm; a cut without benefit must be left out.
TEST(Fusion, TiesGoToFewerGroups) {
  FusionProfile profile;
  profile.backward_s = {1, 1, 1};
  profile.bytes = {8, 8, 8};
  EXPECT_THAT(plan(profile).groups, ElementsAre(3));
  // Every tensor is sent while the next is computed.
  profile.network.beta_s_per_byte = 0.125;
  EXPECT_EQ(plan(profile).groups.size(), 3u);
  EXPECT_EQ(plan(profile).iteration_s, 4);
  profile.decode.beta_s_per_byte = 0.125;
  EXPECT_EQ(plan(profile).groups.size(), 3u);
  EXPECT_EQ(plan(profile).iteration_s, 5);
}

TEST(Fusion, OneTensor) {
  FusionProfile profile;
  profile.backward_s = {2};
  profile.bytes = {4};
  profile.compress = {.alpha_s = 1, .beta_s_per_byte = 0.5};
  profile.network = {.alpha_s = 10, .beta_s_per_byte = 1};
  profile.decode = {.alpha_s = 100, .beta_s_per_byte = 0.25};
  profile.decode_agents = 2;
  EXPECT_THAT(plan(profile).groups, ElementsAre(1));
  EXPECT_EQ(plan(profile).iteration_s, 2 + 3 + 14 + 202);
}

// The best groups for the network alone are not the best with decoding.
TEST(Fusion, DecodingChangesThePlan) {
  FusionProfile profile;
  profile.backward_s = {1, 1, 1, 1};
  profile.bytes = {1, 1, 1, 1};
  profile.network = {.alpha_s = 0.0625, .beta_s_per_byte = 1};
  const FusionPlan sent = plan(profile);
  profile.decode.alpha_s = 8;
  profile.decode_agents = 2;
  const FusionPlan decoded = plan(profile);
  EXPECT_EQ(sent.groups.size(), 4u);
  EXPECT_THAT(decoded.groups, ElementsAre(4));
  EXPECT_LT(decoded.iteration_s, fused_iteration_s(FusionTimes(profile), sent.groups));
}

TEST(Fusion, MoreGroupsCanMakeFewerTensorsTakeLonger) {
  // The case for which rows admit empty groups (fusion_rows.h): a large tensor that waits for its
  // own compression.
  FusionProfile profile;
  profile.backward_s = {0, 0, 0};
  profile.bytes = {0, 16, 0};
  profile.compress.alpha_s = 10;
  profile.network.beta_s_per_byte = 1;
  const FusionTimes times(profile);
  FusionProfile two = profile;
  two.backward_s.pop_back();
  two.bytes.pop_back();
  const std::vector<std::uint32_t> separate = {1, 1};
  const std::vector<std::uint32_t> together = {2, 1};
  EXPECT_GT(fused_iteration_s(FusionTimes(two), separate), fused_iteration_s(times, together));
  EXPECT_THAT(plan(profile).groups, ElementsAre(3));
}

// A search at its bound returns a valid plan without the claim that it is optimal.
TEST(Fusion, ATruncatedSearchIsReported) {
  const FusionProfile profile = fusion_testing::like_a_gather(200);
  const FusionPlan cut_short = plan(profile, {.steps_max = 1000});
  const FusionPlan proven = plan(profile);
  expect_consistent(profile, cut_short);
  EXPECT_FALSE(cut_short.optimal);
  EXPECT_TRUE(proven.optimal);
  EXPECT_LE(proven.iteration_s, cut_short.iteration_s);
  for (const FusionBaseline& rule : fusion_baselines(FusionTimes(profile))) {
    EXPECT_LE(cut_short.iteration_s, rule.iteration_s) << rule.name;
  }
}

TEST(Fusion, RefusesAProfileThatIsNone) {
  EXPECT_EQ(plan_fusion({}).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
