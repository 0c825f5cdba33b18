// Rounds beside the journal: nothing is lost when they are moved to it or the process is killed.
#include "core/store/coordinator/recent/recent_rounds.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>

#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"
#include "core/store/testing/mirror_testing.h"

namespace tributary::store_testing {
namespace {

constexpr std::uint64_t kRoundsOfHistory = 7;

// A journal with rounds beside it. Ending the objects is what the end of a process does to the
// files.
struct BesideRun {
  static BesideRun open(const CoordinatorJournalOptions& options) {
    auto journal = CoordinatorJournal::open(options);
    EXPECT_TRUE(journal.ok()) << journal.status().text();
    BesideRun run;
    run.journal = std::move(*journal);
    run.recent = std::make_unique<RecentRounds>(*run.journal, options);
    return run;
  }

  Status store(const CoordinatorRecord& record, bool beside) const {
    if (beside || !recent->empty()) {
      if (const auto* commit = std::get_if<CommitRecord>(&record)) return recent->store(*commit);
      if (const auto* agents = std::get_if<AgentRecords>(&record)) return recent->store(*agents);
    }
    TRIBUTARY_TRY(recent->move());
    return journal->store(record);
  }

  std::string state() const {
    const auto restored = journal->restore();
    return restored.ok() ? described(*restored) : restored.status().text();
  }

  std::unique_ptr<CoordinatorJournal> journal;
  std::unique_ptr<RecentRounds> recent;
};

CoordinatorJournalOptions options_of_run(const Folder& folder, std::string boot_id) {
  return {.journal = {.path = folder / "run.db",
                      .durability = Durability::stop,
                      .boot_id = std::move(boot_id),
                      .log_bytes = 64u << 10,
                      .large_chunk_bytes = 256},
          .history_rounds_max = kRoundsOfHistory};
}

class RecentRoundsTest : public testing::TestWithParam<std::uint64_t> {};

// Records are stored beside the journal at random; now and then they are moved, or the process
// ends.
TEST_P(RecentRoundsTest, AreInTheJournalAfterAMoveAndAfterAKill) {
  const Folder folder;
  const CoordinatorJournalOptions options = options_of_run(folder, "one");
  Draws draws(GetParam());
  CoordinatorLife life(GetParam(), 3000);
  CoordinatorMirror mirror(kRoundsOfHistory);
  BesideRun run = BesideRun::open(options);
  std::uint32_t kills_with_rounds = 0;
  for (std::uint32_t record = 0; record < 120; ++record) {
    const CoordinatorRecord next = life.next();
    ASSERT_EQ(run.store(next, draws.one_in(4)).text(), "ok");
    mirror.store(next);
    if (draws.one_in(20)) {
      ASSERT_EQ(run.recent->move().text(), "ok");
      ASSERT_EQ(run.state(), described(mirror.state())) << "record " << record;
    } else if (draws.one_in(20)) {
      const bool rounds = !run.recent->empty();
      kills_with_rounds += rounds;
      run = BesideRun();
      run = BesideRun::open(options);
      ASSERT_EQ(*run.recent->take_leftover(),
                rounds ? RecentRounds::Leftover::moved : RecentRounds::Leftover::none);
      ASSERT_EQ(run.state(), described(mirror.state())) << "record " << record;
    }
  }
  EXPECT_GT(kills_with_rounds, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RecentRoundsTest, testing::Values(1, 2));

// The run's first records, and a round for which rows are stored beside the journal.
struct SomeRecords {
  explicit SomeRecords(std::uint64_t seed) : life(seed, 3000) {}

  template <typename Kind>
  Kind next() {
    for (;;) {
      const CoordinatorRecord record = life.next();
      if (const auto* const found = std::get_if<Kind>(&record)) return *found;
    }
  }

  CoordinatorLife life;
};

std::uint64_t rows_of(Database& database, const char* sql) {
  std::uint64_t rows = 0;
  EXPECT_TRUE(database.first(sql, std::tie(rows)).ok()) << sql;
  return rows;
}

// The file was never synced, so it may be damaged. The rounds in it are those that the setting
// allows to lose.
TEST(RecentRounds, OfBeforeAStartOfTheMachineAreDeleted) {
  const Folder folder;
  CoordinatorLife life(4, 300);
  CoordinatorMirror durable(kRoundsOfHistory);
  {
    const BesideRun run = BesideRun::open(options_of_run(folder, "one"));
    for (int i = 0; i < 20; ++i) {
      const CoordinatorRecord record = life.next();
      ASSERT_EQ(run.store(record, false).text(), "ok");
      durable.store(record);
    }
    while (run.recent->empty()) {
      const CoordinatorRecord record = life.next();
      ASSERT_EQ(run.store(record, true).text(), "ok");
      if (run.recent->empty()) durable.store(record);
    }
  }
  const BesideRun run = BesideRun::open(options_of_run(folder, "two"));
  EXPECT_EQ(*run.recent->take_leftover(), RecentRounds::Leftover::deleted);
  EXPECT_EQ(run.state(), described(durable.state()));
  EXPECT_FALSE(std::filesystem::exists(folder / "run.db-recent"));
}

// Rows for people come along, each to the agent of the same name and with its date.
TEST(RecentRounds, ReportsEventsAndReadingsAreMovedWithTheirDates) {
  const Folder folder;
  ManualClock clock;
  clock.advance(std::chrono::seconds(1000));
  CoordinatorJournalOptions options = options_of_run(folder, "one");
  options.journal.clock = &clock;
  const BesideRun run = BesideRun::open(options);
  SomeRecords course(5);
  const NewJobRecord job = course.next<NewJobRecord>();
  ASSERT_EQ(run.store(job, false).text(), "ok");
  AgentRecords agents;
  for (const char* const id : {"z", "b", "a"}) agents.agents.push_back({.agent_id = id});
  ASSERT_EQ(run.store(agents, false).text(), "ok");
  CommitRecord commit;
  commit.round.id = {.job = job.job.job, .round = 1, .epoch = 1, .attempt = 0};
  for (const char* const id : {"a", "new", "z"}) {
    AgentRoundRecord& report = commit.reports.emplace_back();
    report.id = commit.round.id;
    report.agent_id = id;
    report.examples = static_cast<std::uint64_t>(id[0]);
  }
  ASSERT_EQ(run.store(commit, true).text(), "ok");
  const std::int64_t event_ns = wall_time_ns(clock) + 5;
  TelemetryRows rows;
  rows.events.push_back({.at_wall_ns = event_ns, .note = {.name = "beside"}});
  ASSERT_EQ(run.recent->add(rows).text(), "ok");
  clock.advance(std::chrono::seconds(500));
  ASSERT_EQ(run.recent->move().text(), "ok");
  Database& database = run.journal->database();
  EXPECT_EQ(rows_of(database,
                    "SELECT count(*) FROM agent_rounds JOIN agents USING (agent) "
                    "WHERE examples = unicode(agent_id)"),
            3u);
  std::int64_t stored_ns = 0;
  EXPECT_TRUE(
      *database.first("SELECT at_wall_ns FROM events WHERE name = 'beside'", std::tie(stored_ns)));
  EXPECT_EQ(stored_ns, event_ns);
  EXPECT_EQ(rows_of(database,
                    "SELECT max(committed_wall_ns) < (SELECT began_wall_ns + 100000000000 "
                    "FROM runs) FROM rounds"),
            1u);
  EXPECT_EQ(rows_of(database, "SELECT count(*) FROM agents"), 4u);
}

// A full disk or a lock keeps the rounds where they are, and the next attempt moves them.
TEST(RecentRounds, StayBesideTheJournalIfTheyCannotBeMoved) {
  const Folder folder;
  const BesideRun run = BesideRun::open(options_of_run(folder, "one"));
  SomeRecords course(6);
  const NewJobRecord job = course.next<NewJobRecord>();
  ASSERT_EQ(run.store(job, false).text(), "ok");
  CommitRecord commit;
  commit.round.id = {.job = job.job.job, .round = 1, .epoch = 1, .attempt = 0};
  commit.redo.push_back({.bucket = 0, .stage = 0, .payload = std::make_shared<Bytes>(1u << 20)});
  ASSERT_EQ(run.store(commit, true).text(), "ok");
  ASSERT_EQ(run.journal->database().limit_pages(1).text(), "ok");
  EXPECT_EQ(run.recent->move().code(), StatusCode::resource_exhausted);
  EXPECT_FALSE(run.recent->empty());
  EXPECT_TRUE(run.recent->load_round({.token = 1, .job = job.job.job, .round = 1})->round);
  ASSERT_EQ(run.journal->database().limit_pages(100'000).text(), "ok");
  EXPECT_EQ(run.recent->move().text(), "ok");
  EXPECT_TRUE(run.recent->empty());
  EXPECT_TRUE(run.journal->load_round({.token = 1, .job = job.job.job, .round = 1})->round);
}

}  // namespace
}  // namespace tributary::store_testing
