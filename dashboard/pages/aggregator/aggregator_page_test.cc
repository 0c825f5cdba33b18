// The page of the aggregators, with runs written by a coordinator's journal.
#include "dashboard/pages/aggregator/aggregator_page.h"

#include <QAbstractItemModelTester>

#include "dashboard/pages/common/run_page_testing.h"

namespace tributary::dashboard {
namespace {

using run_testing::kJob;
using run_testing::RunWriter;

class AggregatorPageTest : public PageOfRunTest {
 protected:
  static void event(RunWriter& run, const Note& what) {
    run.clock().advance(std::chrono::milliseconds(10));
    TelemetryRows rows;
    rows.events.push_back({wall_time_ns(run.clock()), what});
    run.add(rows);
  }
  // As CoordinatorSessions::welcome writes it; core/round/aggregator tests the text.
  static void connects(RunWriter& run, const std::string& text = "at 192.0.2.1:4650, 1024 slots") {
    event(run,
          {.name = "aggregator_connected", .reason = "hello", .source = "gateway-1", .text = text});
  }
  static void installs(RunWriter& run, int epoch) {
    event(run, {.name = "epoch_installed",
                .reason = "in_network",
                .source = "gateway-1",
                .text = "epoch " + std::to_string(epoch) + " of 3 agents, 64 slots",
                .job = kJob});
  }
  static void summed(RunWriter& run, std::uint64_t round) {
    run.round(round, {.collective = wire::Collective::in_network});
  }
  static void by_star(RunWriter& run, std::uint64_t round, const std::string& why) {
    run.round(round, {.sentence = why});
  }
  static void begin(RunWriter& run) {
    run.job();
    run.agents(true);
    connects(run);
    installs(run, 1);
    summed(run, 1);
    summed(run, 2);
  }
  void open_page() {
    open_run();
    page_ = std::make_unique<AggregatorPage>(context_);
    show(*page_);
  }
  QString cell(int row, const QString& column) {
    return page_->model().text(row, page_->model().column_of(column));
  }

  std::unique_ptr<AggregatorPage> page_;
};

TEST_F(AggregatorPageTest, ExplainsHowToOpenARun) {
  AggregatorPage page(context_);
  show(page);
  EXPECT_TRUE(page.summary().contains("No run is open"));
  EXPECT_EQ(page.model().rowCount(), 0);
  EXPECT_TRUE(page.settled());
}

TEST_F(AggregatorPageTest, ShowsTheAggregatorItsEpochAndItsPlace) {
  RunWriter run(run_db());
  begin(run);
  open_page();
  QAbstractItemModelTester tester(&page_->model());
  ASSERT_EQ(page_->model().rowCount(), 1);
  EXPECT_EQ(cell(0, "aggregator"), "gateway-1");
  EXPECT_EQ(cell(0, "address"), "192.0.2.1:4650");
  EXPECT_EQ(cell(0, "slots"), "1024 slots");
  EXPECT_EQ(cell(0, "state"), "connected");
  EXPECT_EQ(cell(0, "job"), "digits");
  EXPECT_EQ(cell(0, "epoch"), "epoch 1 of 3 agents, 64 slots");
  EXPECT_EQ(cell(0, "epoch_state"), "installed");
  EXPECT_EQ(cell(0, "refused"), "0");
  EXPECT_TRUE(page_->summary().contains("Rounds in the network: 2 of 2"))
      << qPrintable(page_->summary());
  EXPECT_TRUE(page_->summary().contains("Rounds by the star: 0 of 2"));
  EXPECT_FALSE(page_->summary().contains("Star in round"));
  const Topology& shown = page_->topology().topology();
  EXPECT_EQ(shown.path, TopologyPath::in_network);
  ASSERT_TRUE(shown.used);
  EXPECT_EQ(shown.used->id, "gateway-1");
  EXPECT_EQ(shown.used->address, "192.0.2.1:4650");
  ASSERT_FALSE(shown.agents.empty());
  EXPECT_EQ(shown.agents[0].id, "a");
  EXPECT_EQ(shown.title, "Round 2: summed in the network by gateway-1");
  EXPECT_TRUE(page_->incidents().contains("epoch installed (in network), gateway-1"));
}

TEST_F(AggregatorPageTest, SaysWhyTheStarStoodIn) {
  RunWriter run(run_db());
  begin(run);
  event(run, {.level = LogLevel::warning,
              .name = "agent_gone",
              .reason = "disconnected",
              .source = "gateway-1",
              .text = "counts as lost"});
  by_star(run, 3, "Use the star: no aggregator is connected");
  open_page();
  EXPECT_TRUE(page_->summary().contains("Rounds by the star: 1 of 3"));
  EXPECT_TRUE(
      page_->summary().contains("Star in round 3: Use the star: no aggregator is connected"))
      << qPrintable(page_->summary());
  EXPECT_EQ(cell(0, "state"), "gone: disconnected");
  EXPECT_EQ(cell(0, "epoch_state"), "ended");
  EXPECT_EQ(page_->topology().topology().path, TopologyPath::star);
  EXPECT_EQ(page_->topology().topology().title, "Round 3: collective star");
  EXPECT_FALSE(page_->topology().topology().used);
  EXPECT_TRUE(page_->topology().topology().not_used.empty()) << "it has gone";
  EXPECT_TRUE(page_->incidents().section('\n', 0, 0).contains("agent gone (disconnected)"));
}

// The events of refused sums name the aggregator by its address.
TEST_F(AggregatorPageTest, CountsRefusedSums) {
  RunWriter run(run_db());
  begin(run);
  for (int i = 0; i < 2; ++i) {
    event(run, {.level = LogLevel::error,
                .name = "sums_refused",
                .reason = "mismatch",
                .source = "192.0.2.1:4650",
                .text = "expected sums of the contributions",
                .job = kJob,
                .round = 3});
  }
  by_star(run, 3, "Use the star: in_network failed and is tried again in round 5");
  open_page();
  EXPECT_EQ(cell(0, "refused"), "2");
  EXPECT_TRUE(page_->summary().contains("Refused sums: 2"));
  EXPECT_TRUE(page_->incidents().contains("round 3  sums refused (mismatch), 192.0.2.1:4650"));
  ASSERT_EQ(page_->topology().topology().not_used.size(), 1u) << "connected, and not in use";
}

TEST_F(AggregatorPageTest, FollowsARunningJob) {
  RunWriter run(run_db());
  begin(run);
  by_star(run, 3, "Use the star: the aggregator has not installed the epoch yet");
  open_page();
  EXPECT_FALSE(page_->topology().topology().used);
  connects(run);
  ASSERT_TRUE(happens([&] { return cell(0, "epoch_state") == "ended"; })) << "a new session";
  installs(run, 2);
  summed(run, 4);
  ASSERT_TRUE(happens([&] { return page_->topology().topology().used.has_value(); }));
  EXPECT_TRUE(happens([&] { return cell(0, "epoch") == "epoch 2 of 3 agents, 64 slots"; }));
  EXPECT_EQ(cell(0, "epoch_state"), "installed");
}

// Coordinators before this version did not write the slots.
TEST_F(AggregatorPageTest, WhatTheJournalDoesNotSayIsUnknown) {
  RunWriter run(run_db());
  run.job();
  run.agents(true);
  connects(run, "at 192.0.2.1:4650");
  summed(run, 1);
  open_page();
  ASSERT_EQ(page_->model().rowCount(), 1);
  EXPECT_EQ(cell(0, "address"), "192.0.2.1:4650");
  EXPECT_EQ(cell(0, "slots"), "–");
  EXPECT_EQ(cell(0, "epoch"), "–");
  EXPECT_EQ(cell(0, "epoch_state"), "–");
  EXPECT_EQ(cell(0, "refused"), "–");
  ASSERT_TRUE(page_->topology().topology().used);
  EXPECT_EQ(page_->topology().topology().used->id, "unknown") << "no event says who summed";
  EXPECT_EQ(page_->topology().topology().used->address, "address unknown");
}

TEST_F(AggregatorPageTest, AJobByTheStarHasNoAggregator) {
  RunWriter run(run_db());
  run.job();
  run.agents(true);
  by_star(run, 1, "as the job's policy says");
  event(run, {.name = "agent_gone", .reason = "left", .source = "a", .text = "ended its session"});
  open_page();
  EXPECT_EQ(page_->model().rowCount(), 0);
  EXPECT_TRUE(page_->incidents().isEmpty()) << "an agent is no aggregator";
  EXPECT_TRUE(page_->summary().contains("Star in round 1: as the job's policy says"))
      << qPrintable(page_->summary());
  EXPECT_FALSE(page_->topology().topology().used);
}

}  // namespace
}  // namespace tributary::dashboard
