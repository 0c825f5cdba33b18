// Tests of following a journal while it grows: portions, damage, replaced files and retries. A
// writer plays the coordinator; the clock is manual.
#include "core/run/run_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/run/mechanisms.h"
#include "core/run/run_testing.h"
#include "core/run/view/run_view.h"
#include "core/store/coordinator/recent/recent_rounds.h"
#include "core/store/testing/folder_testing.h"

namespace tributary::dashboard {
namespace {

using run_testing::kJob;
using run_testing::RunWriter;

// A follower and a view on the file that a RunWriter writes. The clock decides when a retry is due.
class RunFollowerTest : public testing::Test {
 protected:
  std::string run_db() { return folder_ / "run.db"; }

  void follow(std::uint32_t rows_max = 4096) {
    follower_.emplace(RunFollowerOptions{.path = run_db(), .rows_max = rows_max}, clock_);
  }
  // Reads all data that is available.
  Status read() {
    if (!follower_) follow();
    for (int steps = 0; steps < 100'000; ++steps) {
      RunChanges changes;
      const Result<bool> more = follower_->step(changes);
      anew_ += changes.begins_anew ? 1 : 0;
      view_.apply(std::move(changes));
      if (!more.ok()) return more.status();
      if (!*more) return {};
    }
    return Status(StatusCode::deadline_exceeded, {.what = "following a file"});
  }
  void retry_is_due() { clock_.advance(std::chrono::seconds(2)); }

  const RoundTable& rounds() {
    static const RoundTable none(16);
    return view_.rounds(kJob) ? *view_.rounds(kJob) : none;
  }

  store_testing::Folder folder_;
  ManualClock clock_;
  std::optional<RunFollower> follower_;
  RunView view_;
  int anew_ = 0;
};

// Two of three agents contribute to round 3, so dense uplink bytes are 4 kB times 3 + 3 + 2.
TEST_F(RunFollowerTest, ReadsJobsAndRounds) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1, {.codec = "fp32", .trigger = wire::Trigger::first_round});
  writer.round(2, {.codec = "fp32"});
  writer.round(3, {.codec = "topk:cr=0.1", .ratio = 0.1, .predicted_s = 0.75}, true);
  ASSERT_EQ(read().text(), "ok");

  ASSERT_EQ(view_.jobs().size(), 1u);
  const JobInfo& job = view_.jobs().front();
  EXPECT_EQ(job.job, kJob);
  EXPECT_EQ(job.name + " " + job.model, "digits lenet");
  EXPECT_EQ(job.state, wire::JobState::running);
  EXPECT_EQ(job.rounds_configured, 20u);
  EXPECT_EQ(job.parameters, 1000u);

  const RoundTable& table = rounds();
  EXPECT_EQ(table.columns.round, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(table.columns.contributors, (std::vector<std::uint32_t>{3, 3, 2}))
      << "of the sets in use";
  EXPECT_EQ(table.columns.bytes_up, (std::vector<std::uint64_t>{300, 300, 300}));
  EXPECT_NEAR(table.columns.began_s[0], 0, 1e-6);
  EXPECT_NEAR(table.columns.ended_s[2], 3, 1e-6);
  EXPECT_EQ(table.columns.dense_bytes_up[0], 4.0 * 1000 * 3);
  EXPECT_EQ(table.columns.dense_bytes_down[0], 4.0 * 1000 * 3);
  EXPECT_EQ(table.sums.dense_up, 32'000);
  EXPECT_EQ(table.names.codecs.name(table.columns.codec[1]), "fp32, raw");
  EXPECT_EQ(table.names.codecs.name(table.columns.codec[2]), "topk:cr=0.1, raw");
  EXPECT_EQ(table.names.triggers.name(table.columns.trigger[0]), "first_round");
  EXPECT_EQ(table.columns.ratio[2], 0.1);
  EXPECT_EQ(table.columns.predicted_s[2], 0.75);
  EXPECT_EQ(table.row_of(2), 1u);
  EXPECT_FALSE(table.row_of(4));
  const auto stretches = RoundTable::stretches(table.columns.codec, 0, 2);
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_EQ(stretches[0].last_row, 1u);
  EXPECT_EQ(table.curves.seconds.over_rounds->last()->x, 3);
  EXPECT_NEAR(table.curves.seconds.over_time->last()->y, 1, 1e-6);
  EXPECT_EQ(table.curves.ratio.over_rounds->size(), 3u);
}

// Unknown values (NaN) stay unknown and do not hide earlier ones. The best accuracy is the highest,
// the best loss the lowest.
TEST_F(RunFollowerTest, ReadsAgentsLinksAndEvents) {
  RunWriter writer(run_db());
  writer.job();
  writer.agents(true);
  writer.round(1, {.ratios = {0.1, 0.02, 0.1}});
  writer.round(2, {.ratios = {0.1, 0.01, 0.1}});
  writer.metric(kAccuracyMetric, 1, 0.5);
  writer.metric(kAccuracyMetric, 2, 0.4);
  writer.metric(kAccuracyMetric, 1, 0.25, "a");
  writer.metric(kLossMetric, 1, 3, "b");
  writer.metric(kLossMetric, 2, 4, "b");
  writer.metric("board_celsius", 2, 61.5, "a");
  writer.metric("round_s", 2, std::numeric_limits<double>::quiet_NaN());
  writer.link("a", "", 0.01, 1e-7);
  writer.link("", "a", 0.02, std::numeric_limits<double>::quiet_NaN());
  writer.link("a", "b", 0.03, 2e-7);
  writer.event("agent_gone", "no heartbeat");
  ASSERT_EQ(read().text(), "ok");

  const MetricCurve* const accuracy = view_.metric(kJob, kAccuracyMetric, "");
  ASSERT_TRUE(accuracy);
  EXPECT_EQ(accuracy->curve.over_rounds->size(), 2u);
  EXPECT_EQ(accuracy->last, 0.4);
  EXPECT_EQ(accuracy->best(), 0.5);
  EXPECT_EQ(view_.metrics(kJob, kAccuracyMetric).size(), 2u);
  EXPECT_TRUE(std::isnan(view_.metric(kJob, "round_s", "")->last));

  const AgentRow* const a = view_.agent("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->info.device, "Orin Nano");
  EXPECT_TRUE(a->info.connected);
  EXPECT_EQ(a->reports, 2u);
  EXPECT_EQ(a->last.loss, 1);
  EXPECT_EQ(a->last.residual_norm, 3);
  EXPECT_EQ(a->metric_last, 0.25);
  EXPECT_EQ(a->temperature_c, 61.5);
  EXPECT_EQ(a->alpha_up_s, 0.01);
  EXPECT_EQ(a->alpha_down_s, 0.02);
  EXPECT_TRUE(std::isnan(a->beta_down_s_per_byte));
  EXPECT_EQ(a->ratio, 0.1);
  const AgentRow* const b = view_.agent("b");
  ASSERT_TRUE(b);
  EXPECT_TRUE(std::isnan(b->last.loss));
  EXPECT_EQ(b->metric, kLossMetric);
  EXPECT_EQ(b->metric_best, 3);
  EXPECT_EQ(b->metric_last, 4);
  EXPECT_EQ(b->ratio, 0.01);
  EXPECT_FALSE(view_.agent("c")) << "is not known";

  const AgentCurves* const curves = view_.agent_curves(kJob, "a");
  ASSERT_TRUE(curves);
  // The report on round 2 tells the wait and the bytes of round 1.
  EXPECT_EQ(curves->wait_s->size(), 1u);
  EXPECT_EQ(curves->wait_s->last()->x, 1);
  EXPECT_EQ(curves->wait_s->last()->y, 0.5);
  EXPECT_EQ(curves->decode_s->last()->y, 0.125);
  EXPECT_EQ(curves->bytes_up->last()->x, 1);
  EXPECT_EQ(curves->loss->size(), 2u);
  EXPECT_EQ(view_.link("a", "b")->beta_s_per_byte->last()->y, 2e-7);
  EXPECT_EQ(view_.links().size(), 3u);
  ASSERT_EQ(view_.events().size(), 1u);
  EXPECT_EQ(view_.events()[0].text, "no heartbeat");
  EXPECT_EQ(view_.events()[0].level, LogLevel::warning);
}

// The file is empty when it is opened. A read without news changes no revision, so no page is drawn
// again.
TEST_F(RunFollowerTest, ReadsRowsWrittenMeanwhile) {
  RunWriter writer(run_db());
  ASSERT_EQ(read().text(), "ok");
  EXPECT_TRUE(view_.jobs().empty());
  writer.job();
  writer.agents(true);
  writer.round(1);
  ASSERT_EQ(read().text(), "ok");
  EXPECT_EQ(rounds().size(), 1u);
  EXPECT_EQ(rounds().columns.dense_bytes_up[0], 12'000);
  const std::uint64_t revision = view_.revisions().agents;
  ASSERT_EQ(read().text(), "ok");
  EXPECT_EQ(view_.revisions().agents, revision) << "nothing was written";
  writer.round(2);
  writer.metric(kAccuracyMetric, 2, 0.5);
  writer.agents(false);
  JobRecord stopped;
  stopped.job = kJob;
  stopped.definition = run_testing::definition("digits");
  stopped.state = wire::JobState::stopped;
  stopped.state_reason = "enough";
  writer.store(stopped);
  ASSERT_EQ(read().text(), "ok");
  EXPECT_EQ(rounds().size(), 2u);
  EXPECT_EQ(view_.metric(kJob, kAccuracyMetric, "")->last, 0.5);
  EXPECT_FALSE(view_.agent("a")->info.connected);
  EXPECT_EQ(view_.jobs()[0].reason, "enough");
  EXPECT_EQ(anew_, 0);
}

// The result must not depend on the size of the portions.
TEST_F(RunFollowerTest, SmallPortionsComeToTheSame) {
  RunWriter writer(run_db());
  writer.job();
  for (std::uint64_t round = 1; round <= 40; ++round) {
    writer.round(round);
    writer.metric(kAccuracyMetric, round, static_cast<double>(round));
    writer.metric(kLossMetric, round, 1);
    writer.metric("round_s", round, 1);
    writer.event("round_over", "");
  }
  follow(7);
  bool overview = false;
  for (;;) {
    RunChanges changes;
    const Result<bool> more = follower_->step(changes);
    ASSERT_TRUE(more.ok()) << more.status().text();
    EXPECT_LE(changes.rounds.size(), 13u);
    EXPECT_LE(changes.reports.size(), 13u);
    view_.apply(std::move(changes));
    if (view_.overview_read() && !overview) {
      overview = true;
      EXPECT_EQ(rounds().size(), 40u);
      EXPECT_EQ(view_.metric(kJob, kLossMetric, "")->curve.over_rounds->size(), 40u);
      EXPECT_TRUE(view_.events().empty());
      EXPECT_FALSE(view_.metric(kJob, "round_s", ""));
    }
    if (!*more) break;
  }
  EXPECT_TRUE(overview);
  EXPECT_EQ(view_.metric(kJob, kAccuracyMetric, "")->curve.over_rounds->size(), 40u);
  EXPECT_EQ(view_.metric(kJob, "round_s", "")->curve.over_time->size(), 40u);
  EXPECT_EQ(view_.events().size(), 40u);
  EXPECT_EQ(rounds().columns.predicted_s[39], 0.5);
  EXPECT_EQ(view_.agent_curves(kJob, "b")->compute_s->size(), 40u);
}

// The ten newest of thirty.
TEST_F(RunFollowerTest, KeepsTheNewestEventsAlone) {
  RunWriter writer(run_db());
  for (int i = 0; i < 30; ++i) writer.event("e", std::to_string(i));
  follower_.emplace(RunFollowerOptions{.path = run_db(), .events_max = 10}, clock_);
  ASSERT_EQ(read().text(), "ok");
  ASSERT_EQ(view_.events().size(), 10u);
  EXPECT_EQ(view_.events().front().text, "20");
}

// Nothing changes in the file itself when rounds are stored beside it.
TEST_F(RunFollowerTest, SaysHowManyRoundsAreBesideTheFile) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1);
  ASSERT_EQ(read().text(), "ok");
  EXPECT_EQ(view_.file_warning(), "");
  RecentRounds recent(writer.journal(), {.journal = {.path = run_db()}});
  CommitRecord commit;
  commit.round.id = {.job = kJob, .round = 2, .epoch = 1, .attempt = 0};
  commit.round.outcomes.resize(1);
  ASSERT_EQ(recent.store(commit).text(), "ok");
  ASSERT_EQ(read().text(), "ok");
  EXPECT_THAT(view_.file_warning(), testing::HasSubstr("missing: 1."));
  ASSERT_EQ(recent.move().text(), "ok");
  ASSERT_EQ(read().text(), "ok");
  EXPECT_EQ(view_.file_warning(), "");
  EXPECT_EQ(rounds().size(), 2u);
}

// --- files that are no runs ---------------------------------------------------------------------

// No coordinator commits such a round, but the schema allows it, and all other readers read it. A
// reader that refuses it hides the rounds after it, too.
TEST_F(RunFollowerTest, ReadsARoundWithoutResults) {
  RunWriter writer(run_db());
  writer.job();
  CommitRecord commit;
  commit.round.id = {kJob, 1, 1, 0};
  commit.round.members = 3;
  commit.round.buckets = 2;
  commit.round.contributor_sets.push_back({});  // without members
  writer.store(commit);
  writer.round(2);
  ASSERT_EQ(read().text(), "ok");
  EXPECT_EQ(rounds().columns.round, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(rounds().columns.contributors, (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(rounds().columns.dense_bytes_up[0], 0);
}

// A retry is due after two seconds, so a missing file costs almost nothing.
TEST_F(RunFollowerTest, WaitsForAFileThatIsNotThere) {
  const Status status = read();
  EXPECT_EQ(status.code(), StatusCode::not_found) << status.text();
  RunWriter writer(run_db());
  writer.job();
  EXPECT_EQ(read().code(), StatusCode::not_found) << "it is not time to look again";
  retry_is_due();
  EXPECT_EQ(read().text(), "ok");
  EXPECT_EQ(view_.jobs().size(), 1u);
}

// Empty (a coordinator may be about to write it), other text, a folder, and another program's
// database.
TEST_F(RunFollowerTest, ReportsAFileThatIsNoRun) {
  const auto status_of = [&] {
    retry_is_due();
    return read().code();
  };
  std::ofstream(run_db()).close();
  EXPECT_EQ(status_of(), StatusCode::unavailable);
  std::ofstream(run_db()) << "no database, but longer than the head of one";
  EXPECT_EQ(status_of(), StatusCode::mismatch);
  std::filesystem::remove(run_db());
  std::filesystem::create_directory(run_db());
  EXPECT_EQ(status_of(), StatusCode::mismatch);
  std::filesystem::remove(run_db());
  {
    auto other = Database::open(run_db(), {});
    ASSERT_TRUE(other.ok());
    ASSERT_EQ((*other)->execute("CREATE TABLE t (x); PRAGMA application_id = 77").text(), "ok");
  }
  EXPECT_EQ(status_of(), StatusCode::mismatch);
  std::filesystem::remove(run_db());
  RunWriter(run_db()).job();
  EXPECT_EQ(status_of(), StatusCode::ok);
}

// Reading it with old assumptions would show wrong numbers.
TEST_F(RunFollowerTest, ReportsAFileOfANewerBuild) {
  {
    RunWriter writer(run_db());
    ASSERT_EQ(writer.journal().database().execute("PRAGMA user_version = 99").text(), "ok");
  }
  EXPECT_EQ(read().code(), StatusCode::unsupported);
}

// The same file returns, so nothing has to be read again.
TEST_F(RunFollowerTest, ReportsARemovedFileAndContinuesWhenItReturns) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1);
  ASSERT_EQ(read().text(), "ok");
  std::filesystem::rename(run_db(), folder_ / "elsewhere.db");
  EXPECT_EQ(read().code(), StatusCode::not_found);
  EXPECT_EQ(rounds().size(), 1u) << "what was read stays";
  std::filesystem::rename(folder_ / "elsewhere.db", run_db());
  retry_is_due();
  writer.round(2);
  EXPECT_EQ(read().text(), "ok");
  EXPECT_EQ(rounds().size(), 2u);
  EXPECT_EQ(anew_, 0);
}

// The view learns that everything before is void, also the events, of which the new file has none.
TEST_F(RunFollowerTest, BeginsAnewWithAnotherFileInItsPlace) {
  {
    RunWriter writer(run_db());
    writer.job();
    for (std::uint64_t round = 1; round <= 5; ++round) writer.round(round);
    ASSERT_EQ(read().text(), "ok");
  }
  const std::uint64_t revision = view_.revisions().rounds;
  std::filesystem::remove(run_db());
  std::filesystem::remove(run_db() + "-wal");
  std::filesystem::remove(run_db() + "-shm");
  RunWriter writer(run_db());
  writer.job(kJob, "another");
  writer.round(1);
  ASSERT_EQ(read().text(), "ok");
  EXPECT_EQ(anew_, 1);
  EXPECT_EQ(rounds().size(), 1u);
  EXPECT_EQ(view_.jobs()[0].name, "another");
  EXPECT_GT(view_.revisions().rounds, revision);
  EXPECT_EQ(view_.revisions().events, 1u) << "a page must see that they are gone";
}

// The file keeps its inode, so only its content shows that the run is another one.
TEST_F(RunFollowerTest, BeginsAnewWhereAFileWasOverwritten) {
  RunWriter writer(run_db());
  writer.job();
  for (std::uint64_t round = 1; round <= 5; ++round) writer.round(round);
  ASSERT_EQ(read().text(), "ok");
  Database& database = writer.journal().database();
  ASSERT_EQ(database.execute("DELETE FROM contributor_sets; DELETE FROM plans; DELETE FROM rounds")
                .text(),
            "ok");
  writer.round(1);
  EXPECT_EQ(read().code(), StatusCode::unavailable);
  retry_is_due();
  EXPECT_EQ(read().text(), "ok");
  EXPECT_EQ(anew_, 1);
  EXPECT_EQ(rounds().size(), 1u);
}

// SQLite stores a text in a column of numbers. The rows before it stay, and reading goes on once it
// is mended.
TEST_F(RunFollowerTest, ReportsDamageAndShowsEarlierRows) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1);
  writer.metric("m", 1, 1);
  writer.metric("m", 2, 2);
  Database& database = writer.journal().database();
  ASSERT_EQ(database.execute("UPDATE metrics SET round = 'twelve' WHERE round = 2").text(), "ok");
  EXPECT_EQ(read().code(), StatusCode::corrupt_data);
  EXPECT_EQ(view_.metric(kJob, "m", "")->curve.over_time->size(), 1u);
  retry_is_due();
  EXPECT_EQ(read().code(), StatusCode::corrupt_data);
  ASSERT_EQ(database.execute("UPDATE metrics SET round = 2").text(), "ok");
  retry_is_due();
  EXPECT_EQ(read().text(), "ok");
  EXPECT_EQ(view_.metric(kJob, "m", "")->curve.over_time->size(), 2u);
  EXPECT_EQ(anew_, 0);
}

// A hostile file must not fill the memory with long texts.
TEST_F(RunFollowerTest, TextsOfAFileAreCut) {
  RunWriter writer(run_db());
  writer.job();
  const std::string long_text(100'000, 'x');
  ASSERT_EQ(writer.journal()
                .database()
                .run("INSERT INTO metrics (at_wall_ns, name, value, job, round, agent_id) "
                     "VALUES (1, ?, 1, 0, 1, ?)",
                     long_text, long_text)
                .text(),
            "ok");
  ASSERT_EQ(read().text(), "ok");
  ASSERT_EQ(view_.metrics().size(), 1u);
  EXPECT_EQ(view_.metrics()[0]->name.size(), 64u);
  EXPECT_EQ(view_.metrics()[0]->agent_id.size(), 64u);
}

// --- one round ---------------------------------------------------------------------------------

// Every part of a round's detail, as the writer has stored it.
TEST_F(RunFollowerTest, ShowsARoundInDetail) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1,
               {.codec = "topk:cr=0.1",
                .ratio = 0.1,
                .trigger = wire::Trigger::link_changed,
                .sentence = "the line of c is slow",
                .ratios = {0.1, 0.1, 0.01},
                .decided = true},
               true);
  ASSERT_EQ(read().text(), "ok");
  const Result<RoundDetail> read_detail = follower_->round_detail(kJob, 1);
  ASSERT_TRUE(read_detail.ok()) << read_detail.status().text();
  const RoundDetail& detail = *read_detail;
  EXPECT_TRUE(detail.planned);
  EXPECT_EQ(detail.trigger + ": " + detail.sentence, "link_changed: the line of c is slow");
  EXPECT_NEAR(detail.seconds, 1, 1e-9);
  EXPECT_EQ(detail.buckets, 2u);
  EXPECT_EQ(detail.buckets_counted, 2u);
  ASSERT_EQ(detail.exchanges.size(), 2u);
  EXPECT_EQ(detail.exchanges[0].values, 500u);
  ASSERT_EQ(detail.alternatives.size(), 2u);
  EXPECT_TRUE(detail.alternatives[0].chosen && detail.alternatives[1].pareto);
  EXPECT_EQ(detail.alternatives[1].collective, "ring");
  EXPECT_EQ(detail.alternatives[1].round_s, 4);
  ASSERT_EQ(detail.observations.size(), 1u);
  EXPECT_EQ(detail.observations[0].agent_id, "b");
  EXPECT_EQ(detail.observations[0].age_s, 1.5);
  EXPECT_EQ(as_text(detail.inputs), "{\"values\":1000}");
  ASSERT_EQ(detail.agents.size(), 3u);
  EXPECT_EQ(detail.agents[0].part, AgentPart::contributed);
  EXPECT_EQ(detail.agents[0].compute_s, 0.25);
  EXPECT_EQ(detail.agents[2].agent_id, "c");
  EXPECT_EQ(detail.agents[2].part, AgentPart::left_out);
  EXPECT_FALSE(detail.agents[2].reported);
  EXPECT_EQ(detail.agents[2].ratio, 0.01);
  EXPECT_EQ(detail.agents[2].weight, 2);
  const Mechanism encoded{.name = "values_encoded", .of = "", .value = 20};
  EXPECT_EQ(std::ranges::count(detail.agents[1].mechanisms, encoded), 1);
  EXPECT_TRUE(detail.agents[2].mechanisms.empty());
  const Mechanism late{.name = "left_out", .of = "c", .value = 2};
  EXPECT_EQ(std::ranges::count(detail.mechanisms, late), 1);
  EXPECT_EQ(follower_->round_detail(kJob, 2).status().code(), StatusCode::not_found);
}

// The caller gets an error at once instead of a wait.
TEST_F(RunFollowerTest, AsksForNoDetailBeforeThereIsAFile) {
  follow();
  EXPECT_EQ(follower_->round_detail(kJob, 1).status().code(), StatusCode::unavailable);
}

}  // namespace
}  // namespace tributary::dashboard
