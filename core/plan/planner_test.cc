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
    links.peer_alpha_s = alpha_ms * 1e-3;
    links.peer_beta_s_per_byte = beta;
    links.peers_reachable = true;
  }

  RoundFacts round(const PlanChoice& choice = {}, double exchange_s = 0) const {
    RoundFacts facts = {.agents = {},
                        .codec = choice.codec,
                        .collective = choice.collective,
                        .bucket_values = choice.bucket_values,
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

  // Plays rounds by the choice in force, which take the true time for links of this rate. Returns
  // the last decision.
  std::optional<Planned> play(int rounds, double mbit, double slower = 1) {
    std::optional<Planned> last;
    const PlanInputs truth = federation(mbit, 1, 3);
    const PlanPredictor predictor(truth);
    for (int i = 0; i < rounds; ++i) {
      const PlanCodec& codec = *find_codec(truth, in_use);
      const PlanCost cost =
          predictor.cost(codec, in_use.collective, in_use.ratio, in_use.bucket_values);
      planner.round_over(round(in_use, slower * cost.exchange_s));
      std::optional<Planned> planned = think();
      if (!planned) continue;
      in_use = planned->decision.chosen.choice;
      last = std::move(planned);
    }
    return last;
  }

  PlanChoice in_use = {.codec = "fp32", .bucket_values = 1u << 16};
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
  for (int i = 0; i < 20 && !asked; ++i) {
    facts.codec = first->decision.chosen.choice.codec;
    facts.collective = first->decision.chosen.choice.collective;
    facts.exchange_s = first->decision.chosen.cost.exchange_s;
    planner.round_over(facts);
    asked = think();
    if (asked && asked->decision.trials.empty()) asked.reset();
  }
  ASSERT_TRUE(asked);
  EXPECT_FALSE(asked->decision.trials.empty());
  for (const std::string& spec : asked->decision.trials) EXPECT_NE(spec, "thc:rate=1");
}

TEST_F(PlannerTest, WithoutARoundThereIsNothingToPlanFor) { EXPECT_FALSE(think().has_value()); }

TEST_F(PlannerTest, SettlesAndDecidesAgainWhenALinkChanges) {
  const std::optional<Planned> first = play(1, 1000);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->decision.trigger, wire::Trigger::first_round);
  play(40, 1000);
  const PlanChoice settled = in_use;
  EXPECT_FALSE(play(10, 1000).has_value());
  const std::optional<Planned> second = play(8, 2);
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(second->decision.chosen.choice, settled);
  EXPECT_NE(second->decision.chosen.choice.codec, settled.codec);
}

// The belief needs no reading of a link: rounds alone find the best codec for it.
TEST_F(PlannerTest, RoundsAloneShowTheLinks) {
  links.agents.clear();
  links.peer_alpha_s = links.peer_beta_s_per_byte = std::numeric_limits<double>::quiet_NaN();
  links.peers_reachable = false;
  play(30, 1);
  const PlanInputs truth = federation(1, 1, 3);
  const PlanPredictor predictor(truth);
  const auto pace = [&](const PlanChoice& of) {
    const PlanCost cost =
        predictor.cost(*find_codec(truth, of), wire::Collective::star, of.ratio, of.bucket_values);
    return cost.gain / cost.round_s;
  };
  double best = 0;
  for (const PlanCodec& codec : truth.codecs) {
    for (const double ratio : {0.001, 0.003, 0.01, 0.03, 0.1}) {
      best = std::max(best,
                      pace(make_choice(codec, wire::Collective::star,
                                       codec.family == PlanFamily::fixed ? 1 : ratio, 1u << 16)));
    }
  }
  EXPECT_GT(pace(in_use), 0.8 * best) << in_use.codec;
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

// The payload size of a codec without a ratio is corrected from real rounds.
TEST_F(PlannerTest, PayloadSizesAreLearntFromReceivedPayloads) {
  RoundFacts facts = round({.codec = "fp16", .bucket_values = 1u << 16}, 0.2);
  facts.bytes_up = 3 * 2 * (1u << 20);
  planner.round_over(facts);
  const std::optional<Planned> planned = think();
  ASSERT_TRUE(planned.has_value());
  const PlanWorld typical = typical_world(planned->inputs.worlds);
  for (std::size_t i = 0; i < typical.size.size(); ++i) {
    EXPECT_NEAR(typical.size[i], planned->inputs.codecs[i].spec == "fp16" ? 3 : 1, 0.3)
        << planned->inputs.codecs[i].spec;
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
  const PlanWorld typical = typical_world(planned->inputs.worlds);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(typical.size[i], before[i].spec == codec->spec ? 0.5 : 1, 0.2) << before[i].spec;
  }
}

// The stored inputs reproduce every decision of a run, and a planner that resumes from one has its
// belief.
TEST_F(PlannerTest, ADecisionIsMadeAgainFromItsStoredInputs) {
  int decisions = 0;
  for (const double mbit : {1000.0, 3.0, 100.0}) {
    for (int i = 0; i < 12; ++i) {
      const std::optional<Planned> planned = play(1, mbit);
      if (!planned) continue;
      ++decisions;
      const Result<PlanInputs> inputs = parse_plan_inputs(text_of(planned->inputs));
      ASSERT_TRUE(inputs.ok()) << inputs.status().text();
      const Result<PlanDecision> again = decide(*inputs);
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(again->chosen, planned->decision.chosen);
      EXPECT_EQ(again->options, planned->decision.options);
      EXPECT_EQ(again->reason, planned->decision.reason);
    }
  }
  EXPECT_GE(decisions, 2);
}

TEST_F(PlannerTest, AResumedPlannerContinuesWithItsBelief) {
  play(30, 3);
  PlanPolicy more = policy;
  policy.hysteresis = 0;
  std::optional<Planned> planned = play(12, 1000);
  ASSERT_TRUE(planned.has_value());
  planner = Planner({.values = 1u << 20, .codecs = federation(100, 1).codecs});
  planner.resume(*planned);
  policy = more;
  const PlanChoice before = in_use;
  play(1, 1000);
  EXPECT_EQ(in_use.collective, before.collective);
}

// An agent that lies about its wait decides nothing, and without it the others' waits count.
TEST_F(PlannerTest, TheWaitsOfMostAgentsShowThePartsOfARound) {
  const PlanChoice ring = {
      .codec = "fp32", .collective = wire::Collective::ring, .bucket_values = 1u << 16};
  links.agents.clear();
  const auto believed = [&](double first, double others, std::uint64_t rounds_missed = 0) {
    planner = Planner({.values = 1u << 20, .codecs = federation(100, 1).codecs, .settled = true});
    planner.round_over(round());
    think();  // peers are reachable from now on
    RoundFacts exchanged = round(ring, 2);
    exchanged.round = 7;
    planner.round_over(exchanged);
    RoundFacts facts = round(ring, 2);
    facts.round = 8 + rounds_missed;
    for (RoundFacts::Agent& agent : facts.agents) agent.waited_s = others;
    facts.agents[0].waited_s = first;
    planner.round_over(facts);
    RoundFacts without = round(ring, 2);
    without.agents.pop_back();  // makes a decision, with the belief in it
    planner.round_over(without);
    const std::optional<Planned> planned = think();
    EXPECT_TRUE(planned.has_value());
    return planned ? typical_world(planned->inputs.worlds).slowest.rate.up : 0;
  };
  const double honest = believed(1.5, 1.5);
  for (const double lie : {1e6, 1e-6, 0.0}) EXPECT_EQ(believed(lie, 1.5), honest) << lie;
  EXPECT_LT(believed(0.05, 0.05), 0.5 * honest);
  const double unknown = believed(0, 0);
  EXPECT_NE(unknown, honest) << "no parts are known";
  EXPECT_EQ(believed(1.5, 1.5, 1), unknown) << "they belong to a round that the planner missed";
}

// An agent without link readings has those that the belief expects.
// Whether training hides uploads is seen in rounds that follow rounds among peers. One round
// without it shows nothing, because a learning rate that changes once prevents it.
TEST_F(PlannerTest, RoundsAmongPeersShowWhetherAgentsTrainAhead) {
  const PlanChoice ring = {
      .codec = "fp16", .collective = wire::Collective::ring, .bucket_values = 1u << 16};
  const auto learned = [&](bool expected, int rounds, double hidden_s) {
    Planner fresh({.values = 1u << 20,
                   .codecs = federation(100, 1).codecs,
                   .settled = true,
                   .trains_ahead = expected});
    for (int i = 0; i < rounds; ++i) {
      RoundFacts facts = round(ring, 0.5);
      for (RoundFacts::Agent& agent : facts.agents) agent.hidden_s = hidden_s;
      fresh.round_over(facts);
    }
    const Result<std::optional<Planned>> planned = fresh.think(links, policy);
    EXPECT_TRUE(planned.ok() && planned->has_value());
    return planned.ok() && *planned && (*planned)->inputs.trains_ahead;
  };
  EXPECT_FALSE(learned(false, 1, 0.01)) << "there was no round among peers before it";
  EXPECT_TRUE(learned(false, 2, 0.01));
  EXPECT_TRUE(learned(true, 2, 0));
  EXPECT_FALSE(learned(true, 3, 0));
}

TEST_F(PlannerTest, UnmeasuredAgentsArePlannedToo) {
  links.agents.erase("b");
  links.peer_alpha_s = std::numeric_limits<double>::quiet_NaN();
  planner.round_over(round());
  ASSERT_TRUE(think().has_value());
}

}  // namespace
}  // namespace tributary
