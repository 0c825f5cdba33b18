#include "core/round/common/machine/policy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary {
namespace {

TEST(Policy, ComesBackAsItWas) {
  RoundPolicy policy;
  policy.codec = "thc:bits=4";
  policy.codecs = {"thc", "threelc:s=1.5"};
  policy.learning_rate = 0.125;
  policy.checkpoint_redo_models = 3.5;
  policy.agents = {"garage-01", "garage-02"};
  policy.fraction = 0.25;
  policy.collective = wire::Collective::ring;
  policy.exchanges_per_round = 8;
  const Result<RoundPolicy> back = decode_policy(encode(policy));
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, policy);
}

// As version 1 wrote it.
constexpr std::size_t kExploringBytes = sizeof(double);
constexpr std::size_t kPlanningBytes = 1 + 4 * sizeof(double) + kExploringBytes;

TEST(Policy, OneWithoutAgentsAndFractionIsRead) {
  Bytes bytes = encode(RoundPolicy{});
  bytes.resize(bytes.size() - sizeof(double) - sizeof(std::uint32_t) - 5 - kPlanningBytes);
  bytes[0] = 1;
  const Result<RoundPolicy> back = decode_policy(bytes);
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, RoundPolicy{});
}

// As version 2 wrote it.
TEST(Policy, OneWithoutACollectiveIsRead) {
  RoundPolicy policy;
  policy.agents = {"garage-01"};
  Bytes bytes = encode(policy);
  bytes.resize(bytes.size() - 5 - kPlanningBytes);
  bytes[0] = 2;
  const Result<RoundPolicy> back = decode_policy(bytes);
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, policy);
}

// As version 3 wrote it.
TEST(Policy, OneWithoutPlanningIsRead) {
  RoundPolicy policy;
  policy.collective = wire::Collective::ring;
  Bytes bytes = encode(policy);
  bytes.resize(bytes.size() - kPlanningBytes);
  bytes[0] = 3;
  const Result<RoundPolicy> back = decode_policy(bytes);
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, policy);
}

// As version 4 wrote it.
TEST(Policy, OneWithoutExploringIsRead) {
  RoundPolicy policy;
  policy.planning = {.goal = wire::PlanGoal::adaptive, .gain_weight = 2};
  Bytes bytes = encode(policy);
  bytes.resize(bytes.size() - kExploringBytes);
  bytes[0] = 4;
  const Result<RoundPolicy> back = decode_policy(bytes);
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, policy);
}

TEST(Policy, PlanningComesBackAndNonsenseOfItIsRefused) {
  RoundPolicy policy;
  policy.planning = {.goal = wire::PlanGoal::byte_budget, .bytes_per_day = 1e9, .gain_weight = 2};
  policy.planning.exploring_share = 0.03;
  const Result<RoundPolicy> back = decode_policy(encode(policy));
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, policy);
  policy.planning.bytes_per_day = 0;
  EXPECT_EQ(check(policy).code(), StatusCode::invalid_argument);
  policy.planning = {.goal = wire::PlanGoal::adaptive, .exploring_share = 0.6};
  EXPECT_EQ(check(policy).code(), StatusCode::invalid_argument);
  policy.planning = {.goal = wire::PlanGoal::time_budget};
  EXPECT_EQ(check(policy).code(), StatusCode::invalid_argument);
  policy.planning = {.goal = static_cast<wire::PlanGoal>(9)};
  EXPECT_EQ(check(policy).code(), StatusCode::invalid_argument);
}

TEST(Policy, CutShortOrWithMoreBehindIsRefused) {
  const Bytes bytes = encode(RoundPolicy{});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_policy(ByteSpan(bytes).first(size)).ok()) << size;
  }
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(decode_policy(longer).ok());
}

TEST(Policy, NonsenseIsRefused) {
  const auto refused = [](auto change) {
    RoundPolicy policy;
    change(policy);
    return !check(policy).ok();
  };
  EXPECT_TRUE(check(RoundPolicy{}).ok());
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.agents_min = 0; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.deadline_ms = 0; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.quorum_fraction = 1.5; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.learning_rate = std::nan(""); }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.checkpoint_rounds = 0; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.fraction = 0; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.collective = wire::Collective::in_network; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.exchanges_per_round = 0; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.fraction = std::nan(""); }));
}

}  // namespace
}  // namespace tributary
