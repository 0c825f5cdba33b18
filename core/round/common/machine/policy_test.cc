// Tests of the policy of rounds as bytes: it is restored exactly, earlier versions are read, and
// invalid bytes are refused before memory is allocated.
#include "core/round/common/machine/policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "schemas/enum_names.h"

namespace tributary {
namespace {

TEST(Policy, IsRestoredFromItsBytes) {
  RoundPolicy policy;
  policy.codec = "thc:bits=4";
  policy.codecs = {"thc", "threelc:s=1.5"};
  policy.learning_rate = 0.125;
  policy.checkpoint_redo_models = 3.5;
  policy.agents = {"garage-01", "garage-02"};
  policy.fraction = 0.25;
  policy.collective = wire::Collective::ring;
  policy.exchanges_per_round = 8;
  policy.fusion = "even:4";
  policy.planning = {.goal = wire::PlanGoal::adaptive,
                     .codecs = {"fp16", "thc:bits=4"},
                     .collectives = {wire::Collective::star, wire::Collective::in_network}};
  const Result<RoundPolicy> back = decode_policy(encode(policy));
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, policy);
}

// Written by the build whose format was version 5. Each earlier version ended earlier.
constexpr std::string_view kVersion5 =
    "050000000a0000007468633a626974733d3402000000030000007468630d00000074687265656c63"
    "3a733d312e350010000000000000000000000000c03f0300000002000000000000000000e83f49ee"
    "00001a790000cb0000002c000000410000000000000000000c40000000000000d03f020000000900"
    "00006761726167652d3031090000006761726167652d30320308000000030000000000001c400000"
    "000065cdcd410000000000000040000000000000e03fb81e85eb51b89e3f";
constexpr std::size_t kExploringBytes = sizeof(double);
constexpr std::size_t kPlanningBytes = 1 + 4 * sizeof(double) + kExploringBytes;
constexpr std::size_t kCollectiveBytes = 1 + sizeof(std::uint32_t);
constexpr std::size_t kAgentsBytes = sizeof(double) + sizeof(std::uint32_t) + 2 * (4 + 9);

// The bytes of version 5 without the last ones, which the older version lacks.
Bytes old_policy(std::uint8_t version, std::size_t without) {
  Bytes bytes;
  for (std::size_t i = 0; i + 2 * without < kVersion5.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoi(std::string(kVersion5.substr(i, 2)), nullptr, 16)));
  }
  bytes[0] = version;
  return bytes;
}

// The settings of version 1; all others have their defaults.
RoundPolicy first_policy() {
  return {.codec = "thc:bits=4",
          .codecs = {"thc", "threelc:s=1.5"},
          .bucket_values_max = 4096,
          .learning_rate = 0.125,
          .local_steps = 3,
          .agents_min = 2,
          .quorum_fraction = 0.75,
          .grace_ms = 0,  // these formats have none
          .deadline_ms = 61'001,
          .preliminary_deadline_ms = 31'002,
          .retry_after_ms = 203,
          .catch_up_wait_ms = 44,
          .checkpoint_rounds = 65,
          .checkpoint_redo_models = 3.5};
}

void expect_read(const Bytes& bytes, const RoundPolicy& policy) {
  const Result<RoundPolicy> back = decode_policy(bytes);
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, policy);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_policy(ByteSpan(bytes).first(size)).ok()) << size;
  }
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(decode_policy(longer).ok());
  // Encoding it in the current format preserves the policy.
  EXPECT_EQ(*decode_policy(encode(*back)), policy);
}

TEST(Policy, OneWithoutAgentsAndFractionIsRead) {
  expect_read(old_policy(1, kAgentsBytes + kCollectiveBytes + kPlanningBytes), first_policy());
}

TEST(Policy, OneWithoutACollectiveIsRead) {
  RoundPolicy policy = first_policy();
  policy.fraction = 0.25;
  policy.agents = {"garage-01", "garage-02"};
  expect_read(old_policy(2, kCollectiveBytes + kPlanningBytes), policy);
}

RoundPolicy third_policy() {
  RoundPolicy policy = first_policy();
  policy.fraction = 0.25;
  policy.agents = {"garage-01", "garage-02"};
  policy.collective = wire::Collective::ring;
  policy.exchanges_per_round = 8;
  return policy;
}

TEST(Policy, OneWithoutPlanningIsRead) {
  expect_read(old_policy(3, kPlanningBytes), third_policy());
}

TEST(Policy, OneWithoutExploringIsRead) {
  RoundPolicy policy = third_policy();
  policy.planning = {.goal = wire::PlanGoal::byte_budget,
                     .time_budget_s = 7,
                     .bytes_per_day = 1e9,
                     .gain_weight = 2,
                     .gain_min = 0.5};
  expect_read(old_policy(4, kExploringBytes), policy);
}

TEST(Policy, TheLastHandWrittenOneIsRead) {
  RoundPolicy policy = third_policy();
  policy.planning = {.goal = wire::PlanGoal::byte_budget,
                     .time_budget_s = 7,
                     .bytes_per_day = 1e9,
                     .gain_weight = 2,
                     .gain_min = 0.5,
                     .exploring_share = 0.03};
  expect_read(old_policy(5, 0), policy);
}

// The defaults of the table can never change. If RoundPolicy's default changes, the value must be
// written explicitly.
TEST(Policy, AnEmptyTableIsADefaultPolicy) {
  wire::PolicyT table;
  table.codec = "fp32";
  flatbuffers::FlatBufferBuilder builder;
  wire::FinishSizePrefixedPolicyBuffer(builder, wire::Policy::Pack(builder, &table));
  const Result<RoundPolicy> policy = decode_policy({builder.GetBufferPointer(), builder.GetSize()});
  ASSERT_TRUE(policy.ok()) << policy.status().text();
  RoundPolicy expected;
  expected.grace_ms = 0;  // jobs of that time waited for the deadline
  EXPECT_EQ(*policy, expected);
}

// A small table can refer to one long text thousands of times.
TEST(Policy, TextsAndListsAreBoundedBeforeTheyAreCopied) {
  RoundPolicy policy;
  policy.codec = std::string(201, 'x');
  EXPECT_EQ(decode_policy(encode(policy)).status().code(), StatusCode::corrupt_data);
  policy.codec = "fp32";
  policy.agents.resize(16'385);
  EXPECT_EQ(decode_policy(encode(policy)).status().code(), StatusCode::corrupt_data);
}

TEST(Policy, KeepsItsGraceTime) {
  RoundPolicy policy;
  EXPECT_EQ(decode_policy(encode(policy))->grace_ms, 1'000u);
  policy.grace_ms = 70;
  policy.grace_factor = 0.25;
  EXPECT_EQ(*decode_policy(encode(policy)), policy);
  policy.grace_factor = -1;
  EXPECT_EQ(decode_policy(encode(policy)).status().code(), StatusCode::invalid_argument);
}

TEST(Policy, AnotherVersionIsRefused) {
  for (const std::uint8_t version : {std::uint8_t{0}, std::uint8_t{6}}) {
    EXPECT_EQ(decode_policy(old_policy(version, 0)).status().code(), StatusCode::corrupt_data);
  }
}

TEST(Policy, PlanningIsRestoredAndInvalidValuesAreRefused) {
  RoundPolicy policy;
  policy.planning = {.goal = wire::PlanGoal::byte_budget, .bytes_per_day = 1e9, .gain_weight = 2};
  policy.planning.exploring_share = 0.03;
  policy.weight_cap = 7;
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

// Settings, JSON and the inputs of stored plans use these words.
TEST(Policy, GoalsHaveTheNamesOfSettings) {
  const std::vector<std::string_view> names = {"fixed", "adaptive", "time_budget", "byte_budget"};
  EXPECT_EQ(wire::enum_names(wire::PlanGoal::fixed, wire::PlanGoal::MAX, wire::EnumNamePlanGoal),
            names);
  EXPECT_EQ(wire::enum_value(wire::PlanGoal::fixed, 3), wire::PlanGoal::byte_budget);
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
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.weight_cap = 0.5; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.weight_cap = std::nan(""); }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.collective = wire::Collective::broadcast; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.collective = wire::Collective::in_network; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) {
    p.collective = wire::Collective::in_network;
    p.codec = "thc";
    p.exchanges_per_round = 2;
  }));
  EXPECT_FALSE(refused([](RoundPolicy& p) {
    p.collective = wire::Collective::in_network;
    p.codec = "thc:granularity=30";
  }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.exchanges_per_round = 0; }));
  EXPECT_TRUE(refused([](RoundPolicy& p) { p.fraction = std::nan(""); }));
}

TEST(Policy, FusionIsOneOfItsWords) {
  RoundPolicy policy;
  for (const std::string fusion : {"", "optimal", "layerwise", "whole", "even:3"}) {
    policy.fusion = fusion;
    EXPECT_TRUE(check(policy).ok()) << fusion;
  }
  for (const std::string fusion : {"layer-wise", "even", "even:0", "even:nan"}) {
    policy.fusion = fusion;
    EXPECT_EQ(check(policy).code(), StatusCode::invalid_argument) << fusion;
    EXPECT_FALSE(decode_policy(encode(policy)).ok()) << fusion;
  }
}

}  // namespace
}  // namespace tributary
