// Every stored record is returned, also if the journal was reopened in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/store/agent/agent_journal.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"
#include "core/store/testing/mirror_testing.h"

namespace tributary::store_testing {
namespace {

constexpr std::uint32_t kRecords = 120;
constexpr std::uint64_t kHistory = 7;

// The parameter is the seed of the records. The log is short, so that it is copied often.
class RoundTrip : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RoundTrip, RestoresACoordinator) {
  const Folder folder;
  const CoordinatorJournalOptions options{.journal = {.path = folder / "run.db",
                                                      .durability = Durability::stop,
                                                      .log_bytes = 64u << 10},
                                          .history_rounds_max = kHistory};
  CoordinatorLife life(GetParam(), 3000);
  CoordinatorMirror mirror(kHistory);
  for (std::uint32_t record = 0; record < kRecords;) {
    auto journal = CoordinatorJournal::open(options);
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    for (const std::uint32_t end = record + 30; record < end; ++record) {
      const CoordinatorRecord next = life.next();
      ASSERT_EQ((*journal)->store(next).text(), "ok");
      mirror.store(next);
    }
    const auto restored = (*journal)->restore();
    ASSERT_TRUE(restored.ok()) << restored.status().text();
    ASSERT_EQ(described(*restored), described(mirror.state()));
  }
}

TEST_P(RoundTrip, RestoresEveryCommittedRound) {
  const Folder folder;
  auto journal = CoordinatorJournal::open(
      {.journal = {.path = folder / "run.db", .durability = Durability::stop},
       .history_rounds_max = 1});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  CoordinatorLife life(GetParam(), 300);
  CoordinatorMirror mirror(1);
  for (std::uint32_t record = 0; record < kRecords; ++record) {
    const CoordinatorRecord next = life.next();
    ASSERT_EQ((*journal)->store(next).text(), "ok");
    mirror.store(next);
  }
  for (const RestoredJob& job : mirror.state().jobs) {
    const std::uint64_t number = job.job.job;
    for (const auto& [round, record] : mirror.rounds(number)) {
      const auto loaded = (*journal)->load_round({.token = 5, .job = number, .round = round});
      ASSERT_TRUE(loaded.ok()) << loaded.status().text();
      EXPECT_EQ(loaded->token, 5u);
      ASSERT_TRUE(loaded->round && loaded->epoch);
      EXPECT_EQ(described(*loaded->round), described(record));
      EXPECT_EQ(loaded->epoch->epoch, record.id.epoch);
      EXPECT_EQ(loaded->epoch->members.size(), record.members);
    }
    const auto never = (*journal)->load_round({.token = 6, .job = number, .round = 1000});
    ASSERT_TRUE(never.ok());
    EXPECT_FALSE(never->round || never->epoch);
  }
}

// The results of the rounds after a checkpoint, and of those before it that it names, are read for
// agents that are behind.
TEST_P(RoundTrip, ReturnsTheResultsOfABucket) {
  const Folder folder;
  auto journal = CoordinatorJournal::open(
      {.journal = {.path = folder / "run.db", .durability = Durability::stop}});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  CoordinatorLife life(GetParam(), 3000);
  std::map<std::uint64_t, std::vector<CommitRecord>> commits;  // by job
  std::map<std::uint64_t, std::uint64_t> stored_from;
  for (std::uint32_t record = 0; record < kRecords; ++record) {
    CoordinatorRecord next = life.next();
    if (auto* const commit = std::get_if<CommitRecord>(&next)) {
      const RoundKey& id = commit->round.id;
      if (commit->checkpoint) {
        commit->checkpoint->redo_from = id.round % 2 == 0 && id.round > 3 ? id.round - 3 : 0;
        const std::uint64_t from = commit->checkpoint->redo_from;
        stored_from[id.job] = std::max(stored_from[id.job], from > 0 ? from : id.round + 1);
      }
      commits[id.job].push_back(*commit);
    }
    ASSERT_EQ((*journal)->store(next).text(), "ok");
  }
  for (const auto& [job, all] : commits) {
    for (const CommitRecord& commit : all) {
      const std::uint64_t round = commit.round.id.round;
      for (const RedoPayload& redo : commit.redo) {
        const auto loaded = (*journal)->load_round(
            {.token = 5, .job = job, .round = round, .results_of = redo.bucket});
        ASSERT_TRUE(loaded.ok()) << loaded.status().text();
        ASSERT_TRUE(loaded->round);
        ASSERT_EQ(loaded->results.size(), round >= stored_from[job] ? 1u : 0u) << round;
        if (loaded->results.empty()) continue;
        EXPECT_EQ(loaded->results[0].bucket, redo.bucket);
        EXPECT_EQ(loaded->results[0].stage, redo.stage);
        EXPECT_EQ(*loaded->results[0].payload, *redo.payload);
      }
    }
  }
}

TEST_P(RoundTrip, RestoresAnAgent) {
  const Folder folder;
  const JournalOptions options{
      .path = folder / "agent.db", .durability = Durability::stop, .log_bytes = 64u << 10};
  AgentLife life(GetParam(), 4000);
  AgentMirror mirror;
  for (std::uint32_t record = 0; record < kRecords;) {
    auto journal = AgentJournal::open(options);
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    for (const std::uint32_t end = record + 30; record < end; ++record) {
      const AgentRecordToStore next = life.next();
      ASSERT_EQ((*journal)->store(next).text(), "ok");
      mirror.store(next);
    }
    const auto restored = (*journal)->restore();
    ASSERT_TRUE(restored.ok()) << restored.status().text();
    ASSERT_EQ(described(*restored), described(mirror.state()));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoundTrip, testing::Range<std::uint64_t>(1, 9));

TEST(Journal, IsEmptyOnANewDevice) {
  const Folder folder;
  auto journal = AgentJournal::open({.path = folder / "agent.db"});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  const auto restored = (*journal)->restore();
  ASSERT_TRUE(restored.ok()) << restored.status().text();
  EXPECT_EQ(described(*restored), "");
}

// A model of several chunks, the last one shorter.
TEST(Journal, HoldsValuesOfManyChunks) {
  const Folder folder;
  Draws draws(1);
  ReplicaRecord replica;
  replica.job = 1;
  replica.model = draws.floats(700'001);
  replica.residual = draws.floats(700'001);
  AgentMirror mirror;
  {
    auto journal =
        AgentJournal::open({.path = folder / "agent.db", .durability = Durability::stop});
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    ASSERT_EQ((*journal)->store(replica).text(), "ok");
    mirror.store(replica);
  }
  auto journal = AgentJournal::open({.path = folder / "agent.db", .durability = Durability::stop});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  EXPECT_EQ(described(*(*journal)->restore()), described(mirror.state()));
}

TEST(Journal, RefusesAContributionWithoutAReplica) {
  const Folder folder;
  auto journal = AgentJournal::open({.path = folder / "agent.db", .durability = Durability::stop});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  ContributionRecord contribution;
  contribution.id = {7, 1, 1, 0};
  const Status status = (*journal)->store(contribution);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_FALSE(worth_retrying(status));
}

}  // namespace
}  // namespace tributary::store_testing
