// Tests of series that follow another one and compute their samples from it.
#include "dashboard/pages/common/following_series.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary::dashboard {
namespace {

// Each round saves 900 bytes up and 1,000 down, which is 1,900 together.
NewRound new_round(std::uint64_t round, double began_s, double ended_s) {
  return {.job = 1,
          .round = round,
          .began_s = began_s,
          .ended_s = ended_s,
          .bytes_up = 100,
          .bytes_down = 200,
          .dense_bytes_up = 1000,
          .dense_bytes_down = 1200};
}

// The mapping runs once for each sample, although follow() runs after every one.
TEST(FollowingSeries, CarriesOverOnlyNewSamples) {
  const auto source = std::make_shared<Series>(100);
  FollowingSeries following;
  int asked = 0;
  const auto doubled = [&](Sample sample) -> std::optional<Sample> {
    ++asked;
    return Sample{sample.x, 2 * sample.y};
  };
  for (int x = 0; x < 10; ++x) {
    source->append({double(x), 1});
    following.follow(source, doubled);
  }
  following.follow(source, doubled);
  EXPECT_EQ(asked, 10);
  ASSERT_EQ(following.series()->size(), 10u);
  EXPECT_EQ(following.series()->at(9).y, 2);
}

// A sample without a result yet is tried again later; one that maps to NaN is dropped.
TEST(FollowingSeries, WaitsForUnknownSamplesAndLeavesOutImpossibleOnes) {
  const auto source = std::make_shared<Series>(100);
  for (int x = 0; x < 4; ++x) source->append({double(x), double(x)});
  FollowingSeries following;
  double known = 2;
  const auto map = [&](Sample sample) -> std::optional<Sample> {
    if (sample.x >= known) return std::nullopt;
    return sample.x == 0 ? Sample{std::nan(""), 0} : sample;
  };
  following.follow(source, map);
  EXPECT_EQ(following.series()->size(), 1u);
  known = 10;
  following.follow(source, map);
  ASSERT_EQ(following.series()->size(), 3u);
  EXPECT_EQ(following.series()->at(0).x, 1);
}

// The bound of the new source holds as well.
TEST(FollowingSeries, BeginsAnewWithAnotherSource) {
  const auto same = [](Sample sample) -> std::optional<Sample> { return sample; };
  const auto first = std::make_shared<Series>(10);
  const auto second = std::make_shared<Series>(20);
  first->append({5, 1});
  second->append({1, 7});
  FollowingSeries following;
  following.follow(first, same);
  following.follow(second, same);
  ASSERT_EQ(following.series()->size(), 1u);
  EXPECT_EQ(following.series()->at(0).y, 7);
  EXPECT_EQ(following.series()->samples_max(), 20u);
}

// Debiased: the first value is the first sample, and not a share of it.
TEST(SmoothedSeries, IsTheMeanOfTheLastSamples) {
  const auto source = std::make_shared<Series>(100);
  SmoothedSeries smoothed;
  source->append({1, 4});
  smoothed.follow(source, 0.5);
  EXPECT_EQ(smoothed.series()->at(0).y, 4);
  source->append({2, 10});
  smoothed.follow(source, 0.5);
  EXPECT_DOUBLE_EQ(smoothed.series()->at(1).y, 8);  // (10 + 4 / 2) / 1.5
  smoothed.follow(source, 0);
  EXPECT_EQ(smoothed.series()->at(1).y, 10) << "another weight begins at the first sample";
}

// Three rounds of a second, from second 1 to second 4.
TEST(SavedBytes, AddUpOverRoundsAndTime) {
  RoundTable rounds(100);
  SavedBytes saved;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    rounds.add(new_round(round, double(round), double(round) + 1));
    saved.follow(rounds);
  }
  ASSERT_EQ(saved.over_rounds()->size(), 3u);
  EXPECT_EQ(saved.over_rounds()->at(2).y, 3 * 1900);
  EXPECT_EQ(saved.over_time()->at(2).x, 4);
}

// The table keeps fewer than 40 rounds and merges older ones; the sum must not lose them.
TEST(SavedBytes, CountRoundsRemovedFromTheTable) {
  RoundTable rounds(16);
  for (std::uint64_t round = 1; round <= 40; ++round) {
    rounds.add(new_round(round, double(round), double(round) + 1));
  }
  ASSERT_LT(rounds.size(), 40u);
  SavedBytes saved;
  saved.follow(rounds);
  EXPECT_DOUBLE_EQ(saved.over_rounds()->last()->y, 40 * 1900);
}

// Round 1 lasts from second 10 to 12, round 2 from 13 to 16. Half of a round is a position between
// two numbers.
TEST(RoundsAndTimes, AreFoundFromOneAnother) {
  RoundTable rounds(100);
  rounds.add(new_round(1, 10, 12));
  rounds.add(new_round(2, 13, 16));
  EXPECT_EQ(round_at(rounds, 11), 0.5);
  EXPECT_EQ(round_at(rounds, 12), 1);
  EXPECT_EQ(round_at(rounds, 14), 1.5);
  EXPECT_FALSE(round_at(rounds, 17));
  EXPECT_TRUE(std::isnan(*round_at(rounds, 9)));
  EXPECT_EQ(time_of_round(rounds, 2), 16);
  EXPECT_FALSE(time_of_round(rounds, 3));
  EXPECT_TRUE(std::isnan(*time_of_round(rounds, 0)));
}

// Measurements after the last round of a stopped job are shown at its last round, until another job
// begins.
TEST(RoundsAndTimes, TheTailFollowsTheLastRound) {
  RoundTable rounds(100);
  EXPECT_FALSE(round_at(rounds, 1, 100.0));
  rounds.add(new_round(1, 10, 12));
  rounds.add(new_round(2, 13, 16));
  EXPECT_EQ(round_at(rounds, 14, 100.0), 1.5);
  EXPECT_EQ(round_at(rounds, 17, 100.0), 2);
  EXPECT_TRUE(std::isnan(*round_at(rounds, 100, 100.0))) << "another job's";
}

// A running or paused job may get another round, so it has no tail.
TEST(RoundsAndTimes, ATailBeginsWithTheEndOfAJobAndEndsWithAnothersFirstRound) {
  RunView view;
  const auto jobs_are = [&](wire::JobState first, wire::JobState second) {
    RunChanges changes;
    changes.jobs = {{.job = 1, .state = first}, {.job = 2, .state = second}};
    view.apply(std::move(changes));
  };
  const auto round = [&](std::uint64_t job, double began_s) {
    RunChanges changes;
    changes.rounds = {new_round(1, began_s, began_s + 2)};
    changes.rounds[0].job = job;
    view.apply(std::move(changes));
  };
  jobs_are(wire::JobState::stopped, wire::JobState::running);
  EXPECT_FALSE(end_of_tail(view, 1)) << "without rounds there is no place for it";
  round(1, 10);
  jobs_are(wire::JobState::running, wire::JobState::running);
  EXPECT_FALSE(end_of_tail(view, 1));
  jobs_are(wire::JobState::paused, wire::JobState::running);
  EXPECT_FALSE(end_of_tail(view, 1));
  jobs_are(wire::JobState::finished, wire::JobState::running);
  EXPECT_EQ(end_of_tail(view, 1), std::numeric_limits<double>::infinity());
  round(2, 30);
  EXPECT_EQ(end_of_tail(view, 1), 30);
  EXPECT_FALSE(end_of_tail(view, 2));
}

}  // namespace
}  // namespace tributary::dashboard
