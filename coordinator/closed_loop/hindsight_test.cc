#include "coordinator/closed_loop/hindsight.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/closed_loop/truth/closed_loop_testing.h"
#include "coordinator/closed_loop/truth/true_rounds.h"

namespace tributary {
namespace {

using closed_loop_testing::choice_of;
using closed_loop_testing::scenario_of;
using closed_loop_testing::steady;

constexpr wire::Collective kStar = wire::Collective::star;

double seconds_of(const HindsightResult& result, const PlanChoice& choice) {
  const auto found = std::ranges::find(result.fixed, choice, &FixedResult::choice);
  return found == result.fixed.end() ? 0 : found->seconds;
}

HindsightResult hindsight_of(const PlanScenario& scenario, const TrueFederation& federation) {
  Result<HindsightResult> result = look_back(scenario, federation);
  EXPECT_TRUE(result.ok()) << result.status().text();
  return result.ok() ? *std::move(result) : HindsightResult();
}

// fp32 in one bucket: 4 * 62,500 bytes are 2 Mbit each way, beside 50 ms of training. CPU times and
// envelopes are below a percent of that.
PlanScenario two_megabits(const std::vector<LinkStep>& steps) {
  PlanScenario scenario = scenario_of(steps);
  scenario.values = 62'500;
  return scenario;
}
const PlanChoice kDense = choice_of("fp32", kStar, 62'500);

TEST(Hindsight, SteadyLinkTakesRoundsTimesTheirDuration) {
  PlanScenario scenario = two_megabits({{.seconds = 1, .rate_mbit_s = 1000}});
  scenario.goal = 100;
  const HindsightResult result = hindsight_of(scenario, make_federation(scenario, 1));
  EXPECT_NEAR(seconds_of(result, kDense), 100 * (0.002 + 0.002 + 0.05), 0.1);
}

// 81 s at 4.05 s per round are 20 rounds; the other 80 take 0.45 s each.
TEST(Hindsight, RoundsContinueAtTheNewPaceAfterAChange) {
  PlanScenario scenario =
      two_megabits({{.seconds = 81, .rate_mbit_s = 1}, {.seconds = 1e5, .rate_mbit_s = 10}});
  scenario.goal = 100;
  const TrueFederation federation = make_federation(scenario, 1);
  std::vector<PlanChoice> choices = {kDense};
  RoundTimes times(scenario, federation, choices);
  EXPECT_NEAR(1 / times.paces(5)[0], 4.05, 0.03);
  EXPECT_NEAR(1 / times.paces(90)[0], 0.45, 0.01);
  EXPECT_NEAR(play_fixed(scenario, federation, kDense, 1), 81 + 80 * 0.45, 2);
}

TEST(Hindsight, EqualsPlayedRoundsWithoutNoise) {
  PlanScenario scenario = two_megabits({{.seconds = 9, .rate_mbit_s = 30, .delay_ms = 5},
                                        {.seconds = 5, .rate_mbit_s = 3, .delay_ms = 20}});
  scenario.goal = 200;
  const TrueFederation federation = make_federation(scenario, 1);
  const HindsightResult result = hindsight_of(scenario, federation);
  for (std::size_t i = 0; i < 60; i += 20) {
    const FixedResult& fixed = result.fixed[i];
    EXPECT_NEAR(play_fixed(scenario, federation, fixed.choice, 1) / fixed.seconds, 1, 0.05)
        << fixed.choice.codec << " by " << wire::EnumNameCollective(fixed.choice.collective);
  }
}

// A first round opens windows and makes its agents wait for long, so the second one hides all of
// its training. It is shorter than any later round.
TEST(Hindsight, TakesTheSteadyTimeOfRoundsThatTrainAhead) {
  PlanScenario scenario = steady(400, 3);
  scenario.train_ahead = true;
  scenario.goal = 200;
  const TrueFederation federation = make_federation(scenario, 1);
  const std::vector<PlanChoice> choices = {
      choice_of("fp16", wire::Collective::all_gather, 65'536),
      choice_of("fp16", wire::Collective::sharded_star, 16'384),
      choice_of("threelc", wire::Collective::all_gather, 65'536)};
  RoundTimes times(scenario, federation, choices);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const double played_s = play_fixed(scenario, federation, choices[i], 1);
    EXPECT_NEAR(played_s * times.paces(1)[i] / scenario.goal, 1, 0.03) << choices[i].codec;
  }
}

TEST(Hindsight, StopsOnRequest) {
  const PlanScenario scenario = steady(10, 5);
  const Result<HindsightResult> stopped =
      look_back(scenario, make_federation(scenario, 1), [] { return false; });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.status().code(), StatusCode::cancelled);
}

TEST(Hindsight, NoFixedChoiceBeatsTheOracle) {
  PlanScenario scenario = steady(20, 5);
  scenario.uplinks.steps.clear();
  scenario.uplinks.random = RandomSteps{};
  scenario.goal = 100;
  scenario.hidden = HiddenSettings();
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const HindsightResult result = hindsight_of(scenario, make_federation(scenario, seed));
    EXPECT_LE(result.oracle_s, result.fixed.front().seconds * (1 + 1e-9));
    EXPECT_TRUE(std::ranges::is_sorted(result.fixed, {}, &FixedResult::seconds));
  }
}

// A link that is fast and slow in turns suits no choice at all times.
TEST(Hindsight, OracleIsFasterWhereNoFixedChoiceSuits) {
  PlanScenario scenario = scenario_of({{.seconds = 20, .rate_mbit_s = 0.2, .delay_ms = 5},
                                       {.seconds = 20, .rate_mbit_s = 1000, .delay_ms = 5}});
  scenario.goal = 400;
  const HindsightResult result = hindsight_of(scenario, make_federation(scenario, 1));
  EXPECT_LT(result.oracle_s, 0.99 * result.fixed.front().seconds);
}

TEST(Hindsight, ChoicesAreEveryCodecAndCollective) {
  const std::vector<PlanChoice> choices = fixed_choices(steady(10, 5));
  for (const wire::Collective kind : kCollectives) {
    for (const char* codec :
         {"fp32", "gcomp", "thc:rate=4", "threelc", "topk:cr=0.001", "star_topk:cr=0.1"}) {
      EXPECT_TRUE(std::ranges::any_of(choices,
                                      [&](const PlanChoice& choice) {
                                        return choice.codec == codec && choice.collective == kind;
                                      }))
          << codec << " by " << wire::EnumNameCollective(kind);
    }
  }
  PlanScenario alone = steady(10, 5);
  alone.peers_reachable = false;
  for (const PlanChoice& choice : fixed_choices(alone)) EXPECT_EQ(choice.collective, kStar);
}

TEST(TrueRounds, GainFollowsTheChoice) {
  const TrueFederation federation = make_federation(steady(10, 5), 1);
  const auto gain = [&](const char* codec, double ratio) {
    PlanChoice choice = choice_of(codec, kStar);
    choice.ratio = ratio;
    return true_gain(federation, choice, {}, 4);
  };
  EXPECT_EQ(gain("fp32", 1), 1);
  EXPECT_EQ(gain("thc:rate=1", 1), 0.686);
  EXPECT_NEAR(gain("topk:cr=0.01", 0.01), 0.356, 1e-9);
  EXPECT_LT(gain("star_topk:cr=0.01", 0.01), 0.356);
  PlanChoice choice = choice_of("topk:cr=0.1", kStar);
  choice.ratio = 0.1;
  EXPECT_NEAR(true_gain(federation, choice, {0.1, 0.1, 0.1, 0.01}, 4), (3 * 0.757 + 0.356) / 4,
              1e-9);
}

TEST(TrueRounds, NoiseHasTheMeanThatHindsightUses) {
  PlanScenario scenario = steady(1, 5);
  scenario.hidden.round_noise = 0.3;
  scenario.hidden.hiccups = 0.2;
  scenario.hidden.hiccup = {1.5, 3};
  const TrueFederation federation = make_federation(scenario, 1);
  TrueRounds quiet(scenario, federation, std::nullopt);
  TrueRounds noisy(scenario, federation, 1);
  const PlanChoice choice = choice_of("threelc", kStar);
  double now_s = 0;
  double sum_s = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    const TrueRound played = noisy.play(choice, {}, now_s);
    sum_s += played.ends_s - played.began_s;
    now_s = played.ends_s;
  }
  const TrueRound expected = quiet.play(choice, {}, 0);
  EXPECT_NEAR(sum_s / kRounds / expected.ends_s, 1, 0.02);
}

}  // namespace
}  // namespace tributary
