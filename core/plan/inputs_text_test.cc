// Tests of a plan's inputs as text: they are restored exactly, so that a decision can be repeated
// from a journal.
#include "core/plan/inputs_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/plan/decide.h"
#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/search/predict.h"

namespace tributary {
namespace {

using plan_testing::federation;
using testing::HasSubstr;

PlanInputs with_everything() {
  PlanInputs inputs = federation(1.0 / 3, 0.1);
  inputs.agents[1].alpha_s = std::numeric_limits<double>::quiet_NaN();
  PlanWorld stated = PlanPredictor(inputs).worlds().front();
  stated.overhead_s = 0;
  for (PlanWorld::Link& link : stated.links) link.alpha_s = 0.013;
  world_of(logs_of(stated), inputs.agents.size(), inputs.codecs.size(), stated);
  inputs.worlds = {stated, stated};
  inputs.policy.goal = wire::PlanGoal::byte_budget;
  inputs.policy.bytes_left_today = 1e9 / 3;
  inputs.before = {.choice = {.codec = "topk:cr=0.01",
                              .collective = wire::Collective::halving_doubling,
                              .ratio = 0.01,
                              .bucket_values = 65536},
                   .rounds = 17,
                   .agents = 4,
                   .link = {.alpha_s = 0.1, .beta_s_per_byte = 1e-7},
                   .peers = {.alpha_s = 0.2, .beta_s_per_byte = 1e-8},
                   .gain = 0.3,
                   .ratios = {0.01, 0.01, 1.0 / 300, 0.01},
                   .gains = {{"fp16", 1.0 / 3}}};
  inputs.agents[3].tried = {{"thc:bits=4", 1.0 / 7}, {"fp16", 1}};
  inputs.tried = {{.spec = "thc:bits=4", .rounds = 9, .curve_gain = 0.1}};
  inputs.policy.exploring_share = 0.02;
  inputs.policy.codecs = {"fp16", "thc:bits=4", "topk"};
  inputs.policy.collectives = {wire::Collective::halving_doubling, wire::Collective::in_network};
  inputs.rounds_unasked = 8;
  inputs.asked_in_vain = 2;
  inputs.agents[2].name = "agent-2";
  return inputs;
}

// Writing, reading and writing again gives the same text.
TEST(PlanInputsText, IsRestoredFromItsText) {
  const PlanInputs inputs = with_everything();
  const std::string text = text_of(inputs);
  const Result<PlanInputs> back = parse_plan_inputs(text);
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(text_of(*back), text);
  ASSERT_TRUE(back->before.has_value());
  EXPECT_EQ(back->before->choice, inputs.before->choice);
  EXPECT_EQ(back->before->ratios, inputs.before->ratios);
  EXPECT_EQ(back->agents[2].name, "agent-2");
  EXPECT_EQ(back->agents[3].tried, inputs.agents[3].tried);
  EXPECT_EQ(back->before->gains, inputs.before->gains);
  ASSERT_EQ(back->tried.size(), 1u);
  EXPECT_EQ(back->tried[0].rounds, 9u);
  EXPECT_EQ(back->rounds_unasked, 8u);
  EXPECT_EQ(back->asked_in_vain, 2u);
  ASSERT_EQ(back->worlds.size(), 2u);
  EXPECT_EQ(logs_of(back->worlds[1]), logs_of(inputs.worlds[1]));
  EXPECT_EQ(back->worlds[1].links[0].alpha_s, inputs.worlds[1].links[0].alpha_s);
  EXPECT_EQ(back->policy.bytes_left_today, inputs.policy.bytes_left_today);
  EXPECT_EQ(back->policy.codecs, inputs.policy.codecs);
  EXPECT_EQ(back->policy.collectives, inputs.policy.collectives);
  EXPECT_TRUE(std::isnan(back->agents[1].alpha_s));
}

// A decision can be reproduced from the stored text.
TEST(PlanInputsText, TheSameDecisionIsMadeFromIt) {
  const PlanInputs inputs = federation(30, 7);
  const Result<PlanDecision> one = decide(inputs);
  const Result<PlanDecision> other = decide(*parse_plan_inputs(text_of(inputs)));
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->chosen, other->chosen);
  EXPECT_EQ(one->options, other->options);
  EXPECT_EQ(one->reason, other->reason);
}

// An error names the field and its path.
TEST(PlanInputsText, ErrorsSayWhere) {
  const std::string good = text_of(federation(100, 1));
  const auto refused = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const Result<PlanInputs> inputs = parse_plan_inputs(text);
    EXPECT_FALSE(inputs.ok()) << to;
    return inputs.ok() ? std::string() : inputs.status().text();
  };
  EXPECT_THAT(refused("\"alpha_s\"", "\"alpha_z\""), HasSubstr("agents[0].alpha_z"));
  EXPECT_THAT(refused("\"alpha_s\"", "\"alpha_z\""), HasSubstr("did you mean 'alpha_s'"));
  EXPECT_THAT(refused("\"family\":\"fixed\"", "\"family\":\"odd\""), HasSubstr("codecs[0].family"));
  EXPECT_THAT(refused("\"values\":1048576", "\"values\":-4"), HasSubstr("values"));
  EXPECT_THAT(refused("\"values\":1048576", "\"values\":\"many\""), HasSubstr("whole number"));
  EXPECT_THAT(refused("\"peers_reachable\":true", "\"peers_reachable\":1"),
              HasSubstr("true or false"));
  EXPECT_THAT(refused("\"gain\":0.5", "\"gain\":1.5"), HasSubstr("gain"));
  const std::string_view last = "\"trial_rounds\":100";
  EXPECT_THAT(refused(last, "\"collectives\":[\"rang\"]"), HasSubstr("policy.collectives"));
  EXPECT_THAT(refused(last, "\"codecs\":[3]"), HasSubstr("policy.codecs"));
  EXPECT_THAT(refused(last, "\"codecs\":[\"lost\"]"), HasSubstr("allowed codecs"));
}

TEST(PlanInputsText, OtherTextsAreRefused) {
  const std::vector<std::string> others = {"",
                                           "{",
                                           "[]",
                                           "3",
                                           "null",
                                           R"({"agents": [[]]})",
                                           R"({"agents": 3})",
                                           R"({})",
                                           std::string(100'000, '['),
                                           std::string(kPlanInputsBytesMax + 1, ' ')};
  for (const std::string& other : others) {
    EXPECT_EQ(parse_plan_inputs(other).status().code(), StatusCode::invalid_argument)
        << other.substr(0, 40);
  }
}

}  // namespace
}  // namespace tributary
