// Tests of the time of an iteration for given groups, computed by hand.
#include "core/plan/fusion/fusion_times.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/plan/fusion/fusion_profiles_testing.h"

namespace tributary {
namespace {

// Backward 1, 2 and 3 s; compression 1 s + 1/2 s per byte; network 2 s + 1 s per byte; decoding of
// two agents' payloads, each 2 s + 1/2 s per byte.
FusionProfile by_hand() {
  FusionProfile profile;
  profile.backward_s = {1, 2, 3};
  profile.bytes = {2, 0, 4};
  profile.compress = {.alpha_s = 1, .beta_s_per_byte = 0.5};
  profile.network = {.alpha_s = 2, .beta_s_per_byte = 1};
  profile.decode = {.alpha_s = 1, .beta_s_per_byte = 0.25};
  profile.decode_agents = 2;
  return profile;
}

double iteration_s(const FusionProfile& profile, const std::vector<std::uint32_t>& groups) {
  return fused_iteration_s(FusionTimes(profile), groups);
}

TEST(FusionTimes, StagesByHand) {
  const FusionTimes times(by_hand());
  EXPECT_EQ(times.tensors(), 3u);
  EXPECT_TRUE(times.decodes());
  EXPECT_EQ(times.compressed_s(1, 1), 1 + 1 + 1);
  EXPECT_EQ(times.compressed_s(2, 3), 6 + 2 + 3);
  EXPECT_EQ(times.send_s(0, 2), 4);
  EXPECT_EQ(times.decode_s(2, 3), 4);
  EXPECT_EQ(times.left_to_decode_s(1), 2);
  EXPECT_EQ(times.bytes(1, 3), 4);
}

TEST(FusionTimes, IterationsByHand) {
  // Compressed at 10, sent at 18, decoded at 23.
  EXPECT_EQ(iteration_s(by_hand(), {3}), 23);
  // Compressed at 3 and 11, sent at 7 and 17, decoded at 10 and 21.
  EXPECT_EQ(iteration_s(by_hand(), {1, 2}), 21);
  // Compressed at 3, 6 and 12; sent at 7, 9 and 18; decoded at 10, 12 and 22.
  EXPECT_EQ(iteration_s(by_hand(), {1, 1, 1}), 22);
}

// A stage that is still busy delays the next group.
TEST(FusionTimes, StagesWaitForTheGroupBefore) {
  FusionProfile profile = by_hand();
  profile.network.alpha_s = 10;
  // Compressed at 3 and 11; the network sends the first until 15 and the second until 29.
  EXPECT_EQ(iteration_s(profile, {1, 2}), 29 + 4);
  profile.decode.alpha_s = 20;
  // The first is decoded from 15 to 56, and the second takes 42.
  EXPECT_EQ(iteration_s(profile, {1, 2}), 56 + 42);
}

TEST(FusionTimes, NothingIsDecodedWhereItCostsNothing) {
  FusionProfile profile = by_hand();
  profile.decode = {};
  EXPECT_FALSE(FusionTimes(profile).decodes());
  EXPECT_EQ(iteration_s(profile, {3}), 18);
  profile.decode.beta_s_per_byte = 0.5;
  profile.bytes = {0, 0, 0};
  EXPECT_FALSE(FusionTimes(profile).decodes());
}

// A plan read backwards takes the same time in the mirrored problem.
TEST(FusionTimes, AreTheSameFromTheEnd) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    fusion_testing::ProfileDraws draws(seed);
    const FusionProfile profile = draws.exact(1 + draws.below(20), fusion_testing::Decode::some);
    const FusionTimes times(profile);
    std::vector<std::uint32_t> groups;
    for (std::uint32_t left = times.tensors(); left > 0; left -= groups.back()) {
      groups.push_back(1 + static_cast<std::uint32_t>(draws.below(left)));
    }
    const double iteration_s = fused_iteration_s(times, groups);
    std::ranges::reverse(groups);
    ASSERT_EQ(fused_iteration_s(times.mirrored(), groups), iteration_s) << seed;
  }
}

}  // namespace
}  // namespace tributary
