// Tests of the rules of other systems for grouping tensors, with which plans are compared.
#include "core/plan/fusion/fusion_baselines.h"

#include <gmock/gmock.h>

namespace tributary {
namespace {

using testing::ElementsAre;

FusionProfile five_tensors() {
  FusionProfile profile;
  profile.backward_s = {1, 1, 1, 1, 1};
  profile.bytes = {1, 2, 3, 4, 5};
  profile.compress.alpha_s = 1;
  profile.network = {.alpha_s = 1, .beta_s_per_byte = 0.25};
  return profile;
}

TEST(FusionBaselines, SplitEvenly) {
  const FusionTimes times(five_tensors());
  EXPECT_THAT(split_evenly(times, 1), ElementsAre(5));
  EXPECT_THAT(split_evenly(times, 2), ElementsAre(3, 2));
  EXPECT_THAT(split_evenly(times, 5), ElementsAre(1, 1, 1, 1, 1));
}

TEST(FusionBaselines, SplitBySize) {
  const FusionTimes times(five_tensors());
  EXPECT_THAT(split_by_size(times, 0), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(split_by_size(times, 3), ElementsAre(2, 1, 1, 1));
  EXPECT_THAT(split_by_size(times, 6), ElementsAre(3, 2));
  EXPECT_THAT(split_by_size(times, 7), ElementsAre(4, 1));
  EXPECT_THAT(split_by_size(times, 100), ElementsAre(5));
}

TEST(FusionBaselines, AreTheBestOfTheirKind) {
  const FusionTimes times(five_tensors());
  const auto rules = fusion_baselines(times);
  EXPECT_EQ(rules[0].name, "layer_wise");
  EXPECT_EQ(rules[0].groups.size(), 5u);
  EXPECT_EQ(rules[1].name, "one_bucket");
  EXPECT_THAT(rules[1].groups, ElementsAre(5));
  EXPECT_EQ(rules[2].name, "even_split");
  for (std::uint32_t groups = 1; groups <= 5; ++groups) {
    EXPECT_LE(rules[2].iteration_s, fused_iteration_s(times, split_evenly(times, groups)));
  }
  EXPECT_EQ(rules[3].name, "size_threshold");
  for (const double bytes : {1, 2, 4, 8, 16}) {
    EXPECT_LE(rules[3].iteration_s, fused_iteration_s(times, split_by_size(times, bytes)));
  }
  for (const FusionBaseline& rule : rules) {
    EXPECT_EQ(rule.iteration_s, fused_iteration_s(times, rule.groups)) << rule.name;
  }
}

TEST(FusionBaselines, AcceptTensorsWithoutBytes) {
  FusionProfile profile = five_tensors();
  profile.bytes.assign(5, 0);
  for (const FusionBaseline& rule : fusion_baselines(FusionTimes(profile))) {
    EXPECT_FALSE(rule.groups.empty()) << rule.name;
  }
}

}  // namespace
}  // namespace tributary
