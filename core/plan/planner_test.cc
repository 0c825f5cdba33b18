// Tests of the planner over rounds. The test plays the federation: it reports round times for links
// and codecs that it knows.
#include "core/plan/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs_text.h"

namespace tributary {
namespace {

using plan_testing::beta_of_mbit;
using plan_testing::federation;

class PlannerTest : public testing::Test {
 protected:
  PlannerTest() : planner({.values = 1u << 20, .codecs = federation(100, 1).codecs}) {
    set_lines(1000, 1);
  }

  void set_lines(double mbit, double alpha_ms) {
    const double beta = beta_of_mbit(mbit);
    for (const char* id : {"a", "b", "c"}) {
      links.agents[id] = {
          .alpha_s = alpha_ms * 1e-3, .beta_s_per_byte = beta, .down_beta_s_per_byte = beta};
    }
    links.hub_beta_s_per_byte = beta;
    links.peer_alpha_s = alpha_ms * 1e-3;
    links.peer_beta_s_per_byte = beta;
    links.peers_reachable = true;
  }

  RoundFacts round(const PlanChoice& choice = {}, double exchange_s = 0) const {
    RoundFacts facts = {.agents = {},
                        .codec = choice.codec,
                        .collective = choice.collective,
                        .exchange_s = exchange_s};
    for (const char* id : {"a", "b", "c"}) {
      facts.agents.push_back({.id = id, .compute_s = 0.05, .gain = plan_testing::heavy_tailed()});
    }
    return facts;
  }

  std::optional<Planned> think() {
    Result<std::optional<Planned>> planned = planner.think(links, policy);
    EXPECT_TRUE(planned.ok()) << planned.status().text();
    return planned.ok() ? *std::move(planned) : std::nullopt;
  }

  PlanLinks links;
  PlanPolicy policy = {.rounds_left = 1000};
  Planner planner;
};

// The gain that follows from the norms of updates replaces the assumed one, without a trial.
TEST_F(PlannerTest, GainsFromNormsNeedNoTrial) {
  std::vector<PlanCodec> codecs = federation(100, 1).codecs;
  codecs.push_back(plan_testing::fixed_codec("thc:rate=1", 0.25, 1.5e-9, 0.9));
  planner = Planner({.values = 1u << 20, .codecs = codecs});
  policy.exploring_share = 0.02;
  set_lines(10, 1);
  const auto gain_of = [](const Planned& planned) {
    const PlanCodec* const codec = find_codec(planned.inputs, {.codec = "thc:rate=1"});
    return codec ? PlanPredictor(planned.inputs).fixed_gain(*codec) : -1;
  };
  RoundFacts facts = round();
  for (RoundFacts::Agent& agent : facts.agents) {
    agent.known_gains = {{"thc:rate=1", 0.98}, {"thc:rate=5", 1}};
  }
  planner.round_over(facts);
  const std::optional<Planned> first = think();
  ASSERT_TRUE(first);
  EXPECT_DOUBLE_EQ(gain_of(*first), 0.98);
  EXPECT_EQ(first->inputs.agents[0].tried.size(), 1u) << "only candidates are kept";
  EXPECT_EQ(first->inputs.tried.size(), 1u);
  EXPECT_EQ(first->inputs.asked_in_vain, 0u);
  const auto text = parse_plan_inputs(text_of(first->inputs));
  ASSERT_TRUE(text.ok()) << text.status().text();
  const auto again = decide(*text);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->reason, first->decision.reason) << "a stored decision can be repeated";
  std::optional<Planned> asked;
  for (int i = 0; i < 12 && !asked; ++i) {
    facts.codec = first->decision.chosen.choice.codec;
    facts.collective = first->decision.chosen.choice.collective;
    facts.exchange_s = first->decision.chosen.cost.exchange_s;
    planner.round_over(facts);
    asked = think();
  }
  ASSERT_TRUE(asked);
  EXPECT_FALSE(asked->decision.trials.empty());
  for (const std::string& spec : asked->decision.trials) EXPECT_NE(spec, "thc:rate=1");
}

TEST_F(PlannerTest, WithoutARoundThereIsNothingToPlanFor) { EXPECT_FALSE(think().has_value()); }

TEST_F(PlannerTest, PlansOnceAndThenOnlyWhenSomethingChanges) {
  planner.round_over(round());
  const std::optional<Planned> first = think();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->decision.trigger, wire::Trigger::first_round);
  const PlanOption& chosen = first->decision.chosen;
  for (int i = 0; i < 10; ++i) {
    planner.round_over(round(chosen.choice, chosen.cost.exchange_s));
    EXPECT_FALSE(think().has_value()) << i;
  }
  set_lines(2, 30);
  const std::optional<Planned> second = think();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->decision.trigger, wire::Trigger::link_changed);
  EXPECT_NE(second->decision.chosen.choice, chosen.choice);
}

// The slowest participant's speeds replace the measured ones.
TEST_F(PlannerTest, CodecsCostTheTimeOfTheSlowestDevice) {
  const auto codecs = federation(100, 1).codecs;
  planner = Planner({.values = 1u << 20, .codecs = codecs, .measured_on = {{"thc", {1e9, 1e9}}}});
  RoundFacts facts = round();
  facts.agents[1].speeds = {{"thc", {0.1e9, 0.25e9}}};
  planner.round_over(facts);
  const std::optional<Planned> planned = think();
  ASSERT_TRUE(planned.has_value());
  bool seen = false;
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    const PlanCodec& used = planned->inputs.codecs[i];
    const bool slow = codecs[i].spec == "thc:bits=4";
    seen |= slow;
    EXPECT_DOUBLE_EQ(used.stages[0].encode_s_per_value,
                     (slow ? 10 : 1) * codecs[i].stages[0].encode_s_per_value)
        << used.spec;
    EXPECT_DOUBLE_EQ(used.decode_s_per_value, (slow ? 4 : 1) * codecs[i].decode_s_per_value);
  }
  EXPECT_TRUE(seen) << "THC is not among the test's codecs";
}

// Rounds that take longer than predicted lead to a new choice and a correction.
TEST_F(PlannerTest, LearnsFromRoundTimes) {
  planner.round_over(round());
  const PlanOption first = think()->decision.chosen;
  for (int i = 0; i < 10; ++i) planner.round_over(round(first.choice, 2 * first.cost.exchange_s));
  const std::optional<Planned> second = think();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->decision.trigger, wire::Trigger::link_changed);
  EXPECT_NE(second->decision.reason.find("exchanges take "), std::string::npos)
      << second->decision.reason;
  EXPECT_FALSE(second->inputs.corrections.empty());
}

// If a link explains the slow rounds, the learned factors are discarded.
TEST_F(PlannerTest, ALineThatHasChangedTeachesNothingOfACodec) {
  planner.round_over(round());
  const PlanOption first = think()->decision.chosen;
  for (int i = 0; i < 5; ++i) {
    planner.round_over(round(first.choice, 4 * first.cost.exchange_s));
    if (i == 4) break;
    EXPECT_FALSE(think().has_value()) << "it has not been in force for long";
  }
  set_lines(3, 20);  // the link readings now show the reason
  const std::optional<Planned> second = think();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->decision.trigger, wire::Trigger::link_changed);
  EXPECT_TRUE(second->inputs.corrections.empty());
}

// No link was measured, but rounds that matched their prediction suddenly take ten times as long.
TEST_F(PlannerTest, RoundsThatAllAtOnceTakeMuchLongerAreTheLines) {
  planner.round_over(round());
  PlanOption chosen = think()->decision.chosen;
  const PlanOption first = chosen;
  const auto play = [&](int rounds, double slower) {
    std::optional<Planned> last;
    for (int i = 0; i < rounds; ++i) {
      planner.round_over(round(chosen.choice, slower * chosen.cost.exchange_s));
      if (std::optional<Planned> planned = think()) last = std::move(planned);
    }
    return last;
  };
  EXPECT_FALSE(play(8, 1).has_value());
  EXPECT_FALSE(play(1, 10).has_value()) << "one may have met with anything";
  const std::optional<Planned> slow = play(1, 10);
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->decision.trigger, wire::Trigger::link_changed) << slow->decision.reason;
  EXPECT_TRUE(slow->inputs.corrections.empty() || slow->inputs.corrections.begin()->second < 1.5)
      << "no codec is to blame";
  EXPECT_GT(slow->inputs.agents[0].beta_s_per_byte, 3 * beta_of_mbit(1000));
  chosen = slow->decision.chosen;
  play(8, 1);
  set_lines(100, 1);
  const std::optional<Planned> known = play(1, 1);
  ASSERT_TRUE(known.has_value());
  EXPECT_DOUBLE_EQ(known->inputs.agents[0].beta_s_per_byte, beta_of_mbit(100))
      << "what is measured counts";
}

// Payloads are too small to measure the link: its rate is assumed, and the slowdown still scales
// it.
TEST_F(PlannerTest, SoTheyAreWithoutMeasurements) {
  for (auto& [id, link] : links.agents) {
    link.beta_s_per_byte = link.down_beta_s_per_byte = std::numeric_limits<double>::quiet_NaN();
  }
  planner.round_over(round());
  const PlanOption chosen = think()->decision.chosen;
  std::optional<Planned> slow;
  for (int i = 0; i < 12; ++i) {
    planner.round_over(round(chosen.choice, (i < 8 ? 1 : 10) * chosen.cost.exchange_s));
    if (std::optional<Planned> planned = think()) slow = std::move(planned);
    if (slow) break;
  }
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->decision.trigger, wire::Trigger::link_changed) << slow->decision.reason;
  const double planned_beta = slow->inputs.agents[0].beta_s_per_byte;
  EXPECT_GT(planned_beta, 3 * beta_of_mbit(100));
  const PlanOption next = slow->decision.chosen;
  for (int i = 0; i < 8; ++i) {
    planner.round_over(round(next.choice, next.cost.exchange_s));
    EXPECT_FALSE(think().has_value()) << "it stays so";
  }
}

// The payload size of a codec without a ratio is corrected from real rounds.
TEST_F(PlannerTest, PayloadSizesAreLearntFromReceivedPayloads) {
  planner.round_over(round());
  const std::optional<Planned> first = think();
  ASSERT_TRUE(first.has_value());
  const std::vector<PlanCodec>& before = first->inputs.codecs;
  const PlanChoice chosen = first->decision.chosen.choice;
  const auto codec = std::ranges::find(before, chosen.codec, &PlanCodec::spec);
  ASSERT_NE(codec, before.end()) << chosen.codec << " has a ratio";
  RoundFacts facts = round(chosen, first->decision.chosen.cost.exchange_s);
  facts.bytes_up = 3 * codec->stages[0].up_bytes_per_value * (1u << 20);
  for (int i = 0; i < 8; ++i) {
    planner.round_over(facts);
    think();
  }
  set_lines(2, 30);
  std::optional<Planned> again;
  for (int i = 0; i < 8 && !again; ++i) {
    planner.round_over(facts);
    again = think();
  }
  ASSERT_TRUE(again.has_value()) << "the line is another one";
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double factor = before[i].spec == chosen.codec ? 3 : 1;
    EXPECT_DOUBLE_EQ(again->inputs.codecs[i].stages[0].up_bytes_per_value,
                     factor * before[i].stages[0].up_bytes_per_value)
        << before[i].spec;
  }
}

// A trial encodes the agent's own update, for GComp with the state of its optimizer.
TEST_F(PlannerTest, PayloadSizesAreLearntFromTrials) {
  const std::vector<PlanCodec> before = federation(100, 1).codecs;
  const auto codec = std::ranges::find(before, PlanFamily::fixed, &PlanCodec::family);
  ASSERT_NE(codec, before.end());
  double per_value = 0;
  for (const PlanStage& stage : codec->stages) per_value += stage.up_bytes_per_value;
  RoundFacts facts = round();
  for (RoundFacts::Agent& agent : facts.agents) {
    agent.tried[codec->spec] = 0.9;
    agent.tried_bytes[codec->spec] = per_value / 2;
  }
  planner.round_over(facts);
  const std::optional<Planned> planned = think();
  ASSERT_TRUE(planned.has_value());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double factor = before[i].spec == codec->spec ? 0.5 : 1;
    EXPECT_DOUBLE_EQ(planned->inputs.codecs[i].stages[0].up_bytes_per_value,
                     factor * before[i].stages[0].up_bytes_per_value)
        << before[i].spec;
  }
}

// The overhead of all rounds is learned as such and not as a factor of a codec.
TEST_F(PlannerTest, TimeCommonToAllRoundsIsNotChargedToACodec) {
  constexpr double kBeside_s = 0.5;
  Planner settled({.values = 1u << 20, .codecs = federation(100, 1).codecs, .settled = true});
  settled.round_over(round());
  PlanOption chosen = (*settled.think(links, policy))->decision.chosen;
  std::optional<Planned> last;
  for (int i = 0; i < 40; ++i) {
    PlanInputs now = last ? last->inputs : PlanInputs();
    settled.round_over(round(chosen.choice, chosen.cost.exchange_s - now.overhead_s + kBeside_s));
    const Result<std::optional<Planned>> planned = settled.think(links, policy);
    ASSERT_TRUE(planned.ok());
    if (!*planned) continue;
    last = **planned;
    chosen = last->decision.chosen;
  }
  ASSERT_TRUE(last.has_value());
  EXPECT_NEAR(last->inputs.overhead_s, kBeside_s, 0.1);
  for (const auto& [key, factor] : last->inputs.corrections) {
    EXPECT_GT(factor, 0.4) << key;
    EXPECT_LT(factor, 2.5) << key;
  }
}

// An unknown reading does not overwrite a known value.
TEST_F(PlannerTest, ForgottenLinksKeepTheirLastValue) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  set_lines(3, 20);
  planner.round_over(round());
  const PlanOption first = think()->decision.chosen;
  for (auto& [id, link] : links.agents) {
    link = {.alpha_s = kUnknown, .beta_s_per_byte = kUnknown, .down_beta_s_per_byte = kUnknown};
  }
  links.peer_alpha_s = links.peer_beta_s_per_byte = kUnknown;
  for (int i = 0; i < 10; ++i) planner.round_over(round(first.choice, first.cost.exchange_s));
  EXPECT_FALSE(think().has_value());
  links.agents.clear();
  EXPECT_FALSE(think().has_value());
}

// An uncertain rate replaces a certain one only if the two cannot be equal.
TEST_F(PlannerTest, ARateThatIsKnownRoughlyCountsWhereItCannotBeTheSame) {
  set_lines(3, 20);
  links.peers_reachable = false;
  planner.round_over(round());
  const PlanOption first = think()->decision.chosen;
  for (int i = 0; i < 10; ++i) planner.round_over(round(first.choice, first.cost.exchange_s));
  const auto set_rough = [this](double mbit, double error) {
    links.hub_beta_s_per_byte = beta_of_mbit(mbit);
    for (auto& [id, link] : links.agents) {
      link.beta_s_per_byte = link.down_beta_s_per_byte = beta_of_mbit(mbit);
      link.beta_error = link.down_beta_error = error;
    }
  };
  set_rough(4.5, 0.2);
  EXPECT_FALSE(think().has_value()) << "3 Mbit/s is two and a half standard errors away";
  set_rough(100, 0.4);
  const std::optional<Planned> second = think();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->decision.trigger, wire::Trigger::link_changed);
  EXPECT_GT(second->decision.chosen.cost.gain, first.cost.gain);
  set_rough(100, std::numeric_limits<double>::infinity());
  for (int i = 0; i < 10; ++i) {
    planner.round_over(
        round(second->decision.chosen.choice, second->decision.chosen.cost.exchange_s));
  }
  EXPECT_FALSE(think().has_value());
}

// A round with a fallback collective says nothing about the choice in force.
TEST_F(PlannerTest, ARoundWithAnotherCollectiveTeachesNothing) {
  planner.round_over(round());
  const PlanOption first = think()->decision.chosen;
  PlanChoice fallback = first.choice;
  fallback.collective = fallback.collective == wire::Collective::star ? wire::Collective::ring
                                                                      : wire::Collective::star;
  for (int i = 0; i < 10; ++i) planner.round_over(round(fallback, 100));
  EXPECT_FALSE(think().has_value());
}

// The stored inputs reproduce the planner's decision.
TEST_F(PlannerTest, ADecisionIsMadeAgainFromItsStoredInputs) {
  planner.round_over(round());
  const PlanOption first = think()->decision.chosen;
  for (int i = 0; i < 10; ++i) planner.round_over(round(first.choice, first.cost.exchange_s));
  set_lines(3, 20);
  const std::optional<Planned> planned = think();
  ASSERT_TRUE(planned.has_value());
  const Result<PlanInputs> inputs = parse_plan_inputs(text_of(planned->inputs));
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  const Result<PlanDecision> again = decide(*inputs);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->chosen, planned->decision.chosen);
  EXPECT_EQ(again->options, planned->decision.options);
  EXPECT_EQ(again->reason, planned->decision.reason);
}

// Rounds that did not use the choice do not count for its dwell time.
TEST_F(PlannerTest, AChoiceThatIsNotCarriedOutHasNotHadItsTime) {
  planner.round_over(round());
  ASSERT_TRUE(think().has_value());
  for (int i = 0; i < 10; ++i) planner.round_over(round());
  set_lines(3, 20);
  EXPECT_FALSE(think().has_value());
}

// An agent without link readings is planned with assumed ones.
TEST_F(PlannerTest, UnmeasuredAgentsArePlannedToo) {
  links.agents.erase("b");
  links.peer_alpha_s = std::numeric_limits<double>::quiet_NaN();
  planner.round_over(round());
  ASSERT_TRUE(think().has_value());
}

TEST_F(PlannerTest, LinesThatCannotBeAreAnError) {
  links.hub_beta_s_per_byte = -1;
  planner.round_over(round());
  EXPECT_EQ(planner.think(links, policy).status().code(), StatusCode::invalid_argument);
}

// The plan took the unknown downlink to be as fast as the uplink, so a rough rate is compared with
// that and not with the rate of an unmeasured link.
TEST_F(PlannerTest, ARoughRateOfADownlinkCountsIfItIsNotThatOfTheUplink) {
  set_lines(3, 20);
  // Each decision has one agent less, so that there is a reason for it.
  RoundFacts facts = round();
  const auto downlink_in_plan = [&](double beta) {
    for (auto& [id, link] : links.agents) {
      link.down_beta_s_per_byte = beta;
      link.down_beta_error = 0.2;
    }
    planner.round_over(facts);
    facts.agents.pop_back();
    const std::optional<Planned> planned = think();
    EXPECT_TRUE(planned);
    return planned ? planned->inputs.agents[0].down_beta_s_per_byte : 0;
  };
  EXPECT_TRUE(std::isnan(downlink_in_plan(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(downlink_in_plan(beta_of_mbit(4)))) << "it may be that of the uplink";
  EXPECT_EQ(downlink_in_plan(beta_of_mbit(100)), beta_of_mbit(100));
}

}  // namespace
}  // namespace tributary
