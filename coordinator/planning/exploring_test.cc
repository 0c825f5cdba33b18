// Tests exploration end to end with the production state machines, codecs and planner. Only network
// and disks are simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs_text.h"
#include "core/plan/planner.h"
#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;
using testing::HasSubstr;

// A codec whose gain the planner overestimates. All values of these updates have similar
// magnitudes, so it drops most of the update; after twenty rounds only a few values have been sent.
const std::string kOverrated = "topk:cr=0.003";

// A planner with a wrong assumption about one codec, and a record of its decisions.
class Misled {
 public:
  explicit Misled(std::uint64_t values)
      : planner_({.values = values,
                  .codecs = {plan_testing::fixed_codec("fp32", 4, 1e-9, 1),
                             plan_testing::fixed_codec("fp16", 2, 1e-9, 0.9999),
                             plan_testing::fixed_codec(kOverrated, 0.2, 1e-9, 0.97)}}) {}

  std::shared_ptr<const PlanAdvice> think(const RoundPlayed& round,
                                          const std::vector<AgentReported>& reports) {
    RoundFacts facts = {
        .agents = {}, .codec = round.choice.codec, .collective = round.choice.collective};
    PlanLinks links;
    for (const RoundPlayed::Participant& participant : round.participants) {
      facts.agents.push_back({.id = participant.agent_id, .compute_s = 0.005});
      links.agents[participant.agent_id] = {
          .alpha_s = 1e-3,
          .beta_s_per_byte = plan_testing::beta_of_mbit(0.1),
          .down_beta_s_per_byte = plan_testing::beta_of_mbit(0.1)};
    }
    for (; reports_read_ < reports.size(); ++reports_read_) {
      for (RoundFacts::Agent& agent : facts.agents) {
        if (agent.id != reports[reports_read_].agent_id) continue;
        for (const wire::TrialT& trial : reports[reports_read_].trials)
          agent.tried[trial.codec] = trial.gain;
      }
    }
    planner_.round_over(facts);
    Result<std::optional<Planned>> planned = planner_.think(
        links,
        {.rounds_left = round.rounds_left, .exploring_share = round.planning.exploring_share});
    EXPECT_TRUE(planned.ok()) << planned.status().text();
    if (!planned.ok() || !*planned) return nullptr;
    made.push_back(**std::move(planned));
    const PlanDecision& decision = made.back().decision;
    auto advice = std::make_shared<PlanAdvice>();
    advice->choice = {.codec = decision.chosen.choice.codec,
                      .collective = decision.chosen.choice.collective,
                      .bucket_values_max = decision.chosen.choice.bucket_values};
    advice->trigger = decision.trigger;
    advice->sentence = decision.reason;
    advice->trials = decision.trials;
    advice->trial_s = decision.trial_s;
    return advice;
  }

  std::vector<Planned> made;

 private:
  Planner planner_;
  std::size_t reports_read_ = 0;
};

// Trials reveal the true gain, and the planner then chooses another codec.
TEST(Exploring, ACodecThatWasOverratedGivesWayOnceAgentsHaveTriedIt) {
  Options options;
  options.rounds = 40;
  options.look_ns = kNsPerMs / 10;
  options.policy.planning = {.goal = wire::PlanGoal::adaptive, .exploring_share = 0.5};
  options.policy.agents_min = 3;
  Misled misled(470);
  const Federation* watched = nullptr;
  options.advise = [&](const RoundPlayed& round) {
    return misled.think(round, watched->log.reported);
  };
  Federation federation(options);
  watched = &federation;
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(1e-4);

  ASSERT_GE(misled.made.size(), 3u);
  EXPECT_EQ(misled.made[0].decision.chosen.choice.codec, kOverrated);
  EXPECT_EQ(misled.made[1].decision.trigger, wire::Trigger::exploration);
  EXPECT_THAT(misled.made[1].decision.reason, HasSubstr("agents try " + kOverrated));
  const PlanDecision& corrected = misled.made[2].decision;
  EXPECT_EQ(corrected.trigger, wire::Trigger::gain_changed);
  EXPECT_TRUE(corrected.switched);
  EXPECT_THAT(corrected.reason, HasSubstr("trials of " + kOverrated));
  EXPECT_EQ(federation.log.played.back().choice.codec, "fp16");

  std::size_t overrated = 0;
  for (const RoundPlayed& round : federation.log.played)
    overrated += round.choice.codec == kOverrated;
  EXPECT_GE(overrated, 4u);
  EXPECT_LE(overrated, 15u);
  for (const Planned& one : misled.made) {
    const Result<PlanInputs> inputs = parse_plan_inputs(text_of(one.inputs));
    ASSERT_TRUE(inputs.ok()) << inputs.status().text();
    const Result<PlanDecision> again = decide(*inputs);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->reason, one.decision.reason);
    EXPECT_EQ(again->trials, one.decision.trials);
  }
}

}  // namespace
}  // namespace tributary
