#include "coordinator/closed_loop/truth/plan_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace tributary {
namespace {

TEST(PlanScenario, EveryScenarioOfTheTreeIsReadAndHasItsFilesName) {
  std::size_t scenarios = 0;
  for (const auto& file : std::filesystem::directory_iterator(TRIBUTARY_SCENARIOS)) {
    const Result<PlanScenario> scenario = read_plan_scenario(file.path().string());
    ASSERT_TRUE(scenario.ok()) << scenario.status().text();
    EXPECT_EQ(scenario->name, file.path().stem().string());
    EXPECT_FALSE(scenario->about.empty()) << file.path();
    ++scenarios;
  }
  EXPECT_GE(scenarios, 15u);
}

TEST(PlanScenario, TraceIsScaled) {
  const Result<PlanScenario> scenario =
      read_plan_scenario(std::string(TRIBUTARY_SCENARIOS) + "/c1.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status().text();
  const std::vector<LinkStep>& steps = scenario->uplinks.steps;
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0], (LinkStep{.seconds = 6, .rate_mbit_s = 100, .delay_ms = 0.5}));
  EXPECT_EQ(steps[2], (LinkStep{.seconds = 6, .rate_mbit_s = 4, .delay_ms = 25}));
  EXPECT_FALSE(scenario->peers);
}

TEST(PlanScenario, TextSetsEveryPart) {
  const Result<PlanScenario> scenario = parse_plan_scenario(R"(
agents = 6
goal = 50
train_ahead = false
plan_codecs = ["fp16"]
plan_collectives = ["star", "ring"]
[uplinks]
rate_mbit_s = [1, 2]
staggered = true
[[peers.steps]]
seconds = 3
rate_mbit_s = 0.5
delay_ms = 0
[members]
visitors = 2
[hidden]
round_noise = 0
)",
                                                            "test");
  ASSERT_TRUE(scenario.ok()) << scenario.status().text();
  EXPECT_EQ(scenario->agents, 6u);
  EXPECT_EQ(scenario->uplinks.rate_mbit_s.high, 2);
  EXPECT_TRUE(scenario->uplinks.staggered);
  ASSERT_TRUE(scenario->peers);
  EXPECT_EQ(scenario->peers->steps,
            (std::vector<LinkStep>{{.seconds = 3, .rate_mbit_s = 0.5, .delay_ms = 0}}));
  EXPECT_EQ(scenario->visitors, 2u);
  EXPECT_FALSE(scenario->train_ahead);
  EXPECT_EQ(scenario->plan_codecs, std::vector<std::string>{"fp16"});
  EXPECT_EQ(scenario->plan_collectives,
            (std::vector{wire::Collective::star, wire::Collective::ring}));
  EXPECT_EQ(scenario->hidden.round_noise, 0);
}

TEST(PlanScenario, MistakesAreRefusedWithTheirPlace) {
  const auto refused = [](const std::string& text) {
    const Result<PlanScenario> scenario = parse_plan_scenario(text, "test");
    return scenario.ok() ? std::string() : scenario.status().text();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused("[uplinks]\nrate_mbit = [1, 2]"), HasSubstr("rate_mbit_s"));
  EXPECT_THAT(refused("agents = 0"), HasSubstr("line 1: agents"));
  EXPECT_THAT(refused("agents = 4\n[members]\nvisitors = 4"), HasSubstr("visitors"));
  EXPECT_THAT(refused("[uplinks]\nrandom = {}\nsteps = [{seconds = 1}]"),
              HasSubstr("one of trace, steps and random"));
  EXPECT_THAT(refused("agents ="), HasSubstr("TOML"));
  EXPECT_THAT(refused("plan_codecs = [\"fp61\"]"), HasSubstr("plan_codecs"));
  EXPECT_THAT(refused("plan_collectives = [\"in_network\"]"), HasSubstr("plan_collectives"));
  EXPECT_THAT(refused("[uplinks]\ntrace = \"none.csv\""), HasSubstr("none.csv"));
}

}  // namespace
}  // namespace tributary
