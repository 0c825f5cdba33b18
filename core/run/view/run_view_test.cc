// Tests of the data of a run in memory: bounds on rounds, agents and curves, and values that are
// not finite.
#include "core/run/view/run_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

namespace tributary::dashboard {
namespace {

constexpr std::uint64_t kRun = 5;

NewRound round_of(std::uint64_t number, double ended_s, std::uint64_t job = kRun) {
  return {.job = job,
          .round = number,
          .began_s = ended_s - 1,
          .ended_s = ended_s,
          .members = 4,
          .contributors = 4,
          .bytes_up = 10,
          .bytes_down = 20,
          .dense_bytes_up = 100,
          .dense_bytes_down = 200};
}

RunChanges rounds_up_to(std::uint64_t last) {
  RunChanges changes;
  for (std::uint64_t round = 1; round <= last; ++round) {
    changes.rounds.push_back(round_of(round, static_cast<double>(round)));
  }
  return changes;
}

TEST(RunViewTest, KnowsNothingAtFirst) {
  const RunView view;
  EXPECT_FALSE(view.rounds(kRun));
  EXPECT_FALSE(view.metric(kRun, kAccuracyMetric, ""));
  EXPECT_FALSE(view.agent("a"));
  EXPECT_FALSE(view.agent_curves(kRun, "a"));
  EXPECT_FALSE(view.link("a", ""));
  EXPECT_TRUE(view.jobs().empty() && view.agents().empty() && view.events().empty());
}

TEST(RunViewTest, OldRoundsGoAndSumsStay) {
  RunView view({.rounds_max = 160});
  view.apply(rounds_up_to(1000));
  const RoundTable& table = *view.rounds(kRun);
  EXPECT_LE(table.size(), 160u);
  EXPECT_GE(table.size(), 150u);
  EXPECT_EQ(table.columns.round.back(), 1000u);
  EXPECT_EQ(table.columns.codec.size(), table.size());
  EXPECT_EQ(table.row_of(1000), table.size() - 1);
  EXPECT_FALSE(table.row_of(1));
  EXPECT_EQ(table.sums.bytes_up, 10'000);
  EXPECT_EQ(table.sums.dense_down, 200'000);
  EXPECT_EQ(table.curves.bytes_up.over_rounds->size(), 160u);
}

// Agents are announced first, so the first agent to report gets no more samples than the last one,
// and the memory reaches its maximum as soon as one curve is full.
TEST(RunViewTest, AgentsThatAreKnownShareEvenly) {
  constexpr std::int64_t kAgents = 64;
  RunView view({.reports_max = kAgents * 300, .link_samples_max = kAgents * 300});
  RunChanges changes;
  changes.agents.emplace();
  for (std::int64_t agent = 1; agent <= kAgents; ++agent) {
    const std::string id = "agent-" + std::to_string(agent);
    changes.agents->push_back({.number = agent, .agent_id = id});
    changes.reports.push_back({.agent = agent, .job = kRun, .round = 1});
    changes.links.push_back({.from = id, .to = ""});
  }
  view.apply(std::move(changes));
  for (const char* id : {"agent-1", "agent-64"}) {
    EXPECT_EQ(view.agent_curves(kRun, id)->loss->samples_max(), 300u) << id;
    EXPECT_EQ(view.link(id, "")->alpha_s->samples_max(), 300u) << id;
  }
}

// A round that was stored again must not appear twice.
TEST(RunViewTest, RoundsThatGoBackAreNoNews) {
  RunView view;
  view.apply(rounds_up_to(10));
  RunChanges changes;
  changes.rounds = {round_of(7, 50), round_of(10, 51), round_of(11, 3)};
  changes.plans = {{.job = kRun, .round = 99, .codecs = "fp32"}, {.job = 6, .round = 1}};
  view.apply(std::move(changes));
  const RoundTable& table = *view.rounds(kRun);
  EXPECT_EQ(table.size(), 11u);
  EXPECT_EQ(table.sums.bytes_up, 110);
  EXPECT_EQ(table.columns.ended_s.back(), 3);
  EXPECT_EQ(table.curves.seconds.over_time->last()->x, 10) << "the clock was set back";
  EXPECT_EQ(table.names.codecs.size(), 1u);
}

TEST(RunViewTest, NumbersThatAreNoneAreGaps) {
  RunView view;
  RunChanges changes;
  const double kNone = kUnknown;
  changes.metrics = {
      {.job = kRun, .round = 1, .name = "evaluation_loss", .time_s = 1, .value = 3},
      {.job = kRun, .round = 2, .name = "evaluation_loss", .time_s = 2, .value = kNone},
      {.job = kRun, .round = 3, .name = "evaluation_loss", .time_s = kNone, .value = 4}};
  view.apply(std::move(changes));
  const MetricCurve& loss = *view.metric(kRun, kLossMetric, "");
  EXPECT_EQ(loss.curve.over_rounds->size(), 3u);
  EXPECT_TRUE(std::isnan(loss.curve.over_rounds->at(1).y));
  EXPECT_EQ(loss.last, 4);
  EXPECT_EQ(loss.best(), 3);
  EXPECT_EQ(loss.highest, 4);
}

TEST(RunViewTest, ManyAgentsAndCurvesAreBounded) {
  RunView view({.jobs_max = 2, .agents_max = 10, .metric_curves_max = 7, .links_max = 3});
  RunChanges changes;
  for (std::int64_t i = 0; i < 50; ++i) {
    const std::string name = std::to_string(i);
    changes.reports.push_back({.agent = i, .job = kRun, .round = 1});
    changes.metrics.push_back({.job = kRun, .round = 1, .name = name});
    changes.links.push_back({.from = name});
    changes.rounds.push_back(round_of(1, 1, static_cast<std::uint64_t>(i)));
  }
  view.apply(std::move(changes));
  EXPECT_EQ(view.agents().size(), 10u);
  EXPECT_EQ(view.metrics().size(), 7u);
  EXPECT_EQ(view.links().size(), 3u);
  EXPECT_TRUE(view.rounds(1));
  EXPECT_FALSE(view.rounds(2));
  EXPECT_EQ(view.left_out(), 40u + 43 + 47 + 48);
}

TEST(RunViewTest, AnAgentThatIsNamedLateHasItsEarlierReports) {
  RunView view;
  RunChanges before;
  before.reports = {{.agent = 3, .job = kRun, .round = 1, .loss = 0.5}};
  before.metrics = {
      {.job = kRun, .round = 1, .name = "evaluation_accuracy", .agent_id = "x", .value = 0.9}};
  before.links = {{.from = "x", .alpha_s = 0.25, .beta_s_per_byte = 1e-6}};
  view.apply(std::move(before));
  EXPECT_FALSE(view.agent("x"));
  ASSERT_EQ(view.agents().size(), 1u);
  RunChanges after;
  after.agents = {{.number = 3, .agent_id = "x", .connected = true}};
  view.apply(std::move(after));
  const AgentRow& row = *view.agent("x");
  EXPECT_EQ(row.last.loss, 0.5);
  EXPECT_EQ(row.metric_best, 0.9);
  EXPECT_EQ(row.alpha_up_s, 0.25);
  EXPECT_TRUE(view.agent_curves(kRun, "x"));
}

// Pages share ownership of curves, so a new run cannot invalidate what they draw.
TEST(RunViewTest, CurvesThatAPageHoldsOutliveTheRun) {
  RunView view;
  view.apply(rounds_up_to(3));
  const std::shared_ptr<const Series> held = view.rounds(kRun)->curves.bytes_up.over_rounds;
  RunChanges changes;
  changes.begins_anew = true;
  view.apply(std::move(changes));
  EXPECT_FALSE(view.rounds(kRun));
  EXPECT_EQ(held->size(), 3u);
}

TEST(NameListTest, IsBounded) {
  NameList names;
  EXPECT_EQ(names.number_of(""), 0);
  EXPECT_EQ(names.number_of("a"), 1);
  for (int i = 0; i < 5000; ++i) names.number_of(std::to_string(i));
  EXPECT_EQ(names.size(), NameList::kNamesMax);
  EXPECT_EQ(names.number_of("a"), 1);
  EXPECT_EQ(names.name(names.number_of("one more")), "other");
}

}  // namespace
}  // namespace tributary::dashboard
