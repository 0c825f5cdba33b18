// Runs that grow, disappear and return while they are open.
#include "dashboard/session/run_session.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/run/run_testing.h"
#include "core/store/testing/folder_testing.h"
#include "dashboard/session/session_testing.h"

namespace tributary::dashboard {
namespace {

using run_testing::kJob;
using run_testing::RunWriter;

// The file is read again every 5 ms, so the tests need not wait long.
class RunSessionTest : public testing::Test {
 protected:
  std::string run_db() { return folder_ / "run.db"; }

  void open() {
    session_ = std::make_unique<RunSession>(
        RunSessionOptions{.origin = origin_of_file(run_db(), std::chrono::milliseconds(5)),
                          .look_every = std::chrono::milliseconds(5)});
    QObject::connect(session_.get(), &RunSession::changed, [this] { ++changes_; });
  }
  std::size_t rounds() {
    const RoundTable* const table = session_->view().rounds(session_->job());
    return table ? table->size() : 0;
  }

  store_testing::Folder folder_;
  std::unique_ptr<RunSession> session_;
  int changes_ = 0;
};

// The reader begins with what is there and continues where it stopped.
TEST_F(RunSessionTest, ReadsExistingAndThenAddedRows) {
  RunWriter writer(run_db());
  writer.job();
  for (std::uint64_t round = 1; round <= 3; ++round) writer.round(round);
  open();
  EXPECT_EQ(session_->name(), "run.db");
  ASSERT_TRUE(happens([&] { return session_->caught_up(); }));
  EXPECT_EQ(session_->job(), kJob);
  EXPECT_EQ(rounds(), 3u);
  writer.round(4);
  writer.metric(kAccuracyMetric, 4, 0.5);
  ASSERT_TRUE(happens([&] {
    return rounds() == 4 && session_->view().metric(kJob, kAccuracyMetric, "") != nullptr;
  }));
  EXPECT_TRUE(session_->trouble().ok());
}

// A view that repainted after each portion would make a large file slow to open.
TEST_F(RunSessionTest, ReportsManyPortionsTogether) {
  RunWriter writer(run_db());
  writer.job();
  for (std::uint64_t round = 1; round <= 200; ++round) writer.round(round);
  for (std::uint64_t i = 1; i <= 12'000; ++i) writer.metric("m", i, 1);  // more than three portions
  open();
  ASSERT_TRUE(happens([&] { return session_->caught_up(); }));
  ASSERT_TRUE(happens([&] { return changes_ > 0; }));
  EXPECT_EQ(rounds(), 200u);
  EXPECT_EQ(session_->view().metric(kJob, "m", "")->curve.over_rounds->size(), 12'000u);
}

// 20 reads of an unchanged file cause no signal.
TEST_F(RunSessionTest, SaysNothingWhenThereIsNothing) {
  RunWriter writer(run_db());
  writer.job();
  open();
  ASSERT_TRUE(happens([&] { return session_->caught_up() && changes_ > 0; }));
  const int before = changes_;
  QTest::qWait(100);
  EXPECT_EQ(changes_, before);
}

// The dashboard may be started before the coordinator.
TEST_F(RunSessionTest, WaitsForAFileThatIsNotThere) {
  open();
  QSignalSpy troubles(session_.get(), &RunSession::trouble_changed);
  ASSERT_TRUE(happens([&] { return !session_->trouble().ok(); }));
  EXPECT_EQ(session_->trouble().code(), StatusCode::not_found);
  EXPECT_FALSE(session_->caught_up());
  QTest::qWait(50);
  EXPECT_EQ(troubles.size(), 1) << "the same trouble is told once";
  RunWriter writer(run_db());
  writer.job();
  ASSERT_TRUE(happens([&] { return session_->job() == kJob; }));
  EXPECT_TRUE(session_->trouble().ok());
  EXPECT_TRUE(happens([&] { return session_->caught_up(); }));
}

// The second file has the same job number and fewer rounds.
TEST_F(RunSessionTest, AFileThatIsReplacedBeginsAnew) {
  {
    RunWriter writer(run_db());
    writer.job();
    for (std::uint64_t round = 1; round <= 3; ++round) writer.round(round);
  }
  open();
  ASSERT_TRUE(happens([&] { return rounds() == 3; }));
  for (const char* part : {"", "-wal", "-shm"}) std::filesystem::remove(run_db() + part);
  ASSERT_TRUE(happens([&] { return !session_->trouble().ok(); }));
  EXPECT_EQ(rounds(), 3u) << "what was read stays in sight";
  RunWriter writer(run_db());
  writer.job(kJob, "another");
  writer.round(1);
  ASSERT_TRUE(happens([&] { return rounds() == 1 && session_->trouble().ok(); }));
  EXPECT_EQ(session_->job_info()->name, "another");
}

// An unknown number chooses the newest job.
TEST_F(RunSessionTest, ShowsTheJobSubmittedLastOrTheOneChosen) {
  RunWriter writer(run_db());
  writer.job(1, "first");
  writer.job(2, "second");
  open();
  ASSERT_TRUE(happens([&] { return session_->caught_up(); }));
  EXPECT_EQ(session_->job_info()->name, "second");
  session_->choose_job(1);
  EXPECT_EQ(session_->job_info()->name, "first");
  session_->choose_job(77);
  EXPECT_EQ(session_->job(), 2u) << "there is no such job";
}

// Details are read on request, because all of them would not fit into memory.
TEST_F(RunSessionTest, AnswersWithTheDetailsOfARound) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1, {.sentence = "the line of c is slow", .decided = true});
  open();
  ASSERT_TRUE(happens([&] { return session_->caught_up(); }));
  std::shared_ptr<const RoundDetail> detail;
  QObject::connect(session_.get(), &RunSession::round_read,
                   [&](const auto& read) { detail = read; });
  QSignalSpy refused(session_.get(), &RunSession::round_not_read);
  session_->ask_round(kJob, 1);
  ASSERT_TRUE(happens([&] { return detail != nullptr; }));
  EXPECT_EQ(detail->sentence, "the line of c is slow");
  session_->ask_round(kJob, 9);
  ASSERT_TRUE(happens([&] { return !refused.empty(); }));
  EXPECT_EQ(refused[0][0].toULongLong(), 9u);
}

// From 0 to 9 ms after opening, while the reader's thread is at different places.
TEST_F(RunSessionTest, MayBeClosedAtAnyTime) {
  RunWriter writer(run_db());
  writer.job();
  for (std::uint64_t i = 1; i <= 9'000; ++i) writer.metric("m", i, 1);
  for (int waits_ms = 0; waits_ms < 10; ++waits_ms) {
    open();
    QTest::qWait(waits_ms);
    session_.reset();
  }
  EXPECT_EQ(session_, nullptr);
}

}  // namespace
}  // namespace tributary::dashboard
