// Tests of fusion = "optimal": rounds that are profiled, the profile that follows from reports, and
// reports that cannot be used.
#include "core/round/coordinator/job/fusion_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::JobTest;
using testing::HasSubstr;
using Groups = std::vector<std::uint32_t>;

constexpr std::uint32_t kFusedValues = 1000;  // of each layer

wire::JobT three_layers() {
  return round_testing::small_job({{.name = "a", .shape = {kFusedValues}},
                                   {.name = "b", .shape = {kFusedValues}},
                                   {.name = "c", .shape = {kFusedValues}}});
}

class FusionPolicyTest : public JobTest {
 protected:
  FusionPolicyTest() : JobTest(three_layers()) {
    policy().fusion = "optimal";
    coordinator_.config.plan_fusion = [this](const FusionProfile& profile) -> Result<FusionPlan> {
      profiles_.push_back(profile);
      if (!solver_.ok()) return solver_;
      return FusionPlan{.groups = {1, 2}, .iteration_s = 0.25, .optimal = true};
    };
  }

  PlanRequest request(std::uint64_t round) {
    PlanRequest made{
        .key = {.job = round_testing::kSmallJob, .round = round, .epoch = 1, .attempt = 0},
        .participants = Bitmap(membership_.size(), true),
        .weights = membership_.weights()};
    fusion_.complete(made, membership_);
    return made;
  }
  void report(std::uint32_t agent, std::uint64_t round, std::vector<float> ready_s, double encode_s,
              double decode_s, std::uint64_t bytes_up) {
    wire::ReportT made;
    made.id = std::make_unique<wire::RoundId>(
        wire_id({.job = round_testing::kSmallJob, .round = round, .epoch = 1, .attempt = 0}));
    made.ready_s = std::move(ready_s);
    made.encode_s = encode_s;
    made.decode_s = decode_s;
    made.bytes_up = bytes_up;
    made.bytes_down = 2 * bytes_up;
    made.exchange_s = exchange_s_;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Report::Pack(builder, &made));
    fusion_.report(membership_.members()[agent].agent_id,
                   *flatbuffers::GetRoot<wire::Report>(builder.GetBufferPointer()));
  }
  // Rounds 1 to 4: a group of all layers takes 10 ms to encode, three groups take 16 ms.
  void profile(const std::vector<std::vector<float>>& ready_s) {
    for (std::uint64_t round = 1; round <= 4; ++round) {
      request(round);
      const bool whole = round % 2 == 1;
      for (std::uint32_t agent = 0; agent < ready_s.size(); ++agent) {
        // The costs of decoding and the bytes are those of the round before.
        report(agent, round, ready_s[agent], whole ? 0.010 : 0.016, whole ? 0.009 : 0.003,
               round == 1 ? 0
               : whole    ? 1260
                          : 1200);
      }
    }
  }

  FusionPolicy fusion_{job_};
  Status solver_;
  double exchange_s_ = 0;
  std::vector<FusionProfile> profiles_;
};

TEST_F(FusionPolicyTest, OtherRulesAreLeftAlone) {
  policy().fusion = "even:2";
  open_epoch(2);
  EXPECT_FALSE(request(1).profile_requested);
  EXPECT_EQ(request(1).groups, Groups{});
}

TEST_F(FusionPolicyTest, TheFirstRoundsAlternateBetweenOneGroupAndOneForEachLayer) {
  open_epoch(2);
  EXPECT_EQ(request(1).groups, Groups{3});
  EXPECT_EQ(request(1).groups, Groups{3}) << "another attempt";
  EXPECT_EQ(request(2).groups, Groups{});
  EXPECT_TRUE(request(3).profile_requested);
  EXPECT_TRUE(profiles_.empty());
}

TEST_F(FusionPolicyTest, TheSlowestAgentOfEachLayerAndTheFitOfBothLayoutsAreTheProfile) {
  open_epoch(2);
  // The last layer is final first.
  profile({{0.5f, 0.375f, 0.25f}, {0.75f, 0.25f, 0.125f}});
  const PlanRequest planned = request(5);
  ASSERT_EQ(profiles_.size(), 1u);
  EXPECT_EQ(profiles_[0].backward_s, (std::vector<double>{0.25, 0.125, 0.5}));
  EXPECT_EQ(profiles_[0].bytes, std::vector<double>(3, 4.0 * kFusedValues));
  EXPECT_NEAR(profiles_[0].compress.alpha_s, 0.003, 1e-9);
  EXPECT_NEAR(profiles_[0].compress.beta_s_per_byte, 0.007 / 12'000, 1e-12);
  EXPECT_NEAR(profiles_[0].decode.alpha_s, 0.003, 1e-9);
  EXPECT_EQ(planned.groups, (Groups{1, 2}));
  EXPECT_FALSE(planned.profile_requested);
  EXPECT_THAT(planned.reason, HasSubstr("2 agents profiled"));
  EXPECT_THAT(planned.reason, HasSubstr("predicted 250 ms"));
  // The choice stands.
  EXPECT_EQ(request(6).groups, (Groups{1, 2}));
  EXPECT_EQ(profiles_.size(), 1u);
}

// Groups that are sent early share the processor with the training: 20 ms for three groups.
TEST_F(FusionPolicyTest, AGroupCostsTheTrainingBesideIt) {
  open_epoch(1);
  for (std::uint64_t round = 1; round <= 4; ++round) {
    request(round);
    const float slowed = round % 2 == 0 ? 0.02f : 0.0f;
    report(0, round, {0.5f + slowed, 0.375f + slowed, 0.25f}, 0.01, 0.01, round == 1 ? 0 : 1200);
  }
  request(5);
  ASSERT_EQ(profiles_.size(), 1u);
  EXPECT_EQ(profiles_[0].backward_s, (std::vector<double>{0.25, 0.125, 0.125}));
  EXPECT_NEAR(profiles_[0].compress.alpha_s, 0.01, 1e-7);
}

// Three groups have 120 bytes of results more than one, and each result has a frame of 256 bytes.
TEST_F(FusionPolicyTest, TheWayBackOfAResultIsPartOfTheLastStage) {
  open_epoch(1);
  profile({{0.5f, 0.375f, 0.25f}});
  fusion_.saw_downlink("agent-unknown", 1e-9);
  for (const double s_per_byte : {2e-5, 1e-5, 3e-5}) {
    fusion_.saw_downlink(membership_.members()[0].agent_id, s_per_byte);
  }
  EXPECT_THAT(request(5).reason, HasSubstr("6.16 ms to take the result"));
  ASSERT_EQ(profiles_.size(), 1u);
  EXPECT_NEAR(profiles_[0].decode.alpha_s, 0.003 + 1e-5 * (60 + 256), 1e-9);
  EXPECT_NEAR(profiles_[0].decode.beta_s_per_byte, 1e-5 * (2400 - 60) / 12'000, 1e-12);
}

// Members wait for the last one, so its exchange is the shortest.
TEST_F(FusionPolicyTest, AnExchangeAmongPeersIsPartOfTheLastStage) {
  open_epoch(2);
  for (std::uint64_t round = 1; round <= 4; ++round) {
    request(round);
    for (const std::uint32_t agent : {0u, 1u}) {
      // That of the round before: one group, three groups, one group.
      exchange_s_ = (round % 2 == 0 ? 0.024 : 0.030) * (agent == 0 ? 2 : 1);
      if (round == 1) exchange_s_ = 0;
      report(agent, round, {0.5f, 0.375f, 0.25f}, 0.01, 0.01, round == 1 ? 0 : 1200);
    }
  }
  request(5);
  ASSERT_EQ(profiles_.size(), 1u);
  EXPECT_NEAR(profiles_[0].decode.alpha_s, 0.003, 1e-9);
  EXPECT_NEAR(profiles_[0].decode.beta_s_per_byte, (0.021 + 0.01) / 12'000, 1e-12);
  EXPECT_EQ(profiles_[0].network.beta_s_per_byte, 0);
}

TEST_F(FusionPolicyTest, ReportsWithoutAUsableProfileLeaveOneGroupForEachLayer) {
  open_epoch(1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::uint64_t round = 1; round <= FusionPolicy::kRoundsMax; ++round) {
    EXPECT_TRUE(request(round).profile_requested) << round;
    const std::vector<std::vector<float>> broken = {
        {0.1f, nan, 0.3f}, {-1, 0, 0}, {0.1f, 0.2f}, {3e38f, 0, 0}, {}};
    report(0, round, broken[round % broken.size()], std::nan(""), -1, 1000);
  }
  const PlanRequest planned = request(FusionPolicy::kRoundsMax + 1);
  EXPECT_FALSE(planned.profile_requested);
  EXPECT_EQ(planned.groups, Groups{});
  EXPECT_THAT(planned.reason, HasSubstr("no agent has reported a profile"));
  EXPECT_TRUE(profiles_.empty());
}

TEST_F(FusionPolicyTest, AProfileThatTheSolverRefusesIsNoted) {
  open_epoch(1);
  solver_ = Status(StatusCode::invalid_argument, {.what = "profile"});
  profile({{0.5f, 0.375f, 0.25f}});
  const PlanRequest planned = request(5);
  EXPECT_EQ(planned.groups, Groups{});
  EXPECT_THAT(planned.reason, HasSubstr("cannot be used"));
  ASSERT_EQ(actions<Note>().size(), 1u);
  EXPECT_EQ(actions<Note>()[0].name, "fusion_refused");
}

TEST_F(FusionPolicyTest, WithoutASolverEveryLayerIsAGroup) {
  coordinator_.config.plan_fusion = {};
  open_epoch(1);
  EXPECT_FALSE(request(1).profile_requested);
  EXPECT_THAT(request(1).reason, HasSubstr("no solver"));
}

}  // namespace
}  // namespace tributary
