// Older journals are migrated to the newest version; newer ones are refused.
#include "core/store/database/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/base/files/file.h"
#include "core/store/agent/agent_journal.h"
#include "core/store/agent/agent_schema.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/coordinator_schema.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"

namespace tributary::store_testing {
namespace {

// A schema of three versions, for tests of the mechanism.
constexpr std::array<std::string_view, 3> kSteps = {
    "CREATE TABLE pets (name TEXT); INSERT INTO pets VALUES ('cat');",
    "ALTER TABLE pets ADD COLUMN legs INTEGER DEFAULT 4;",
    "INSERT INTO pets VALUES ('bird', 2); INSERT INTO pets VALUES ('fish', 0);",
};

class Migration : public testing::Test {
 protected:
  static Schema schema(std::size_t version) {
    return {.what = "list of pets",
            .application_id = 0x70657473,
            .steps = std::span(kSteps).first(version)};
  }

  Status migrated(const Schema& schema) {
    TRIBUTARY_ASSIGN(const auto database, Database::open(path_, {.sync = false}));
    return Migrations(schema).migrate(*database);
  }

  std::int64_t number(const std::string& sql) {
    auto database = Database::open(path_, {.sync = false});
    EXPECT_TRUE(database.ok()) << database.status().text();
    std::int64_t value = -1;
    EXPECT_TRUE((*database)->first(sql, std::tie(value)).ok());
    return value;
  }

  Folder folder_;
  const std::string path_ = folder_ / "pets.db";
};

TEST_F(Migration, ReachesTheNewestVersionFromNothing) {
  ASSERT_EQ(migrated(schema(3)).text(), "ok");
  EXPECT_EQ(number("PRAGMA user_version"), 3);
  EXPECT_EQ(number("SELECT sum(legs) FROM pets"), 6);
}

TEST_F(Migration, ContinuesFromAnyVersionAndKeepsTheData) {
  ASSERT_EQ(migrated(schema(1)).text(), "ok");
  EXPECT_EQ(number("SELECT count(*) FROM pets"), 1);
  ASSERT_EQ(migrated(schema(2)).text(), "ok");
  ASSERT_EQ(migrated(schema(3)).text(), "ok");
  ASSERT_EQ(migrated(schema(3)).text(), "ok") << "a second time does nothing";
  EXPECT_EQ(number("SELECT sum(legs) FROM pets"), 6);
}

TEST_F(Migration, AStepThatFailsLeavesTheVersionBeforeIt) {
  const std::array<std::string_view, 3> steps = {
      kSteps[0], kSteps[1], "DELETE FROM pets; INSERT INTO cars VALUES ('van')"};
  Schema broken = schema(2);
  broken.steps = steps;
  EXPECT_FALSE(migrated(broken).ok());
  EXPECT_EQ(number("PRAGMA user_version"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM pets"), 1);
  ASSERT_EQ(migrated(schema(3)).text(), "ok");
}

TEST_F(Migration, ANewerVersionIsRefusedWithAWayOut) {
  ASSERT_EQ(migrated(schema(3)).text(), "ok");
  const Status status = migrated(schema(2));
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_THAT(status.text(), testing::AllOf(testing::HasSubstr("expected version 2 at most"),
                                            testing::HasSubstr("got version 3"),
                                            testing::HasSubstr("newer build")));
  EXPECT_EQ(number("SELECT sum(legs) FROM pets"), 6);
}

TEST_F(Migration, AForeignDatabaseIsRefused) {
  Schema other = schema(3);
  other.application_id = 1;
  ASSERT_EQ(migrated(other).text(), "ok");
  EXPECT_EQ(migrated(schema(3)).code(), StatusCode::mismatch);
}

// A file with tables but without an application id belongs to another program.
TEST_F(Migration, TablesWithoutAMarkAreForeign) {
  {
    auto database = Database::open(path_, {.sync = false});
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->execute("CREATE TABLE recipes (name TEXT)").ok());
  }
  EXPECT_EQ(migrated(schema(3)).code(), StatusCode::mismatch);
}

// Journals as released builds wrote them.
class Released : public testing::Test {
 protected:
  static std::string released(const std::string& name) {
    const Result<Bytes> bytes = read_file(TRIBUTARY_STORE_RELEASED "/" + name, 1u << 20);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    return bytes.ok() ? std::string(bytes->begin(), bytes->end()) : "";
  }

  std::string make(const std::string& name) {
    std::string path = folder_ / name + ".db";
    auto database = Database::open(path, {.sync = false});
    EXPECT_TRUE(database.ok()) << database.status().text();
    EXPECT_EQ((*database)->execute(released(name + ".sql")).text(), "ok");
    return path;
  }

  // The SQL of every table, index and view.
  static std::string tables(Database& database) {
    std::string all;
    const auto add = [&](Rows& row) -> Status {
      std::string sql;
      TRIBUTARY_TRY(row.read(sql));
      all += sql + "\n";
      return {};
    };
    EXPECT_TRUE(
        database.each("SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name", add).ok());
    return all;
  }

  Folder folder_;
};

TEST_F(Released, CoordinatorsJournalOfVersion1) {
  const std::string path = make("coordinator_1");
  auto journal =
      CoordinatorJournal::open({.journal = {.path = path, .durability = Durability::stop}});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  const auto state = (*journal)->restore();
  ASSERT_TRUE(state.ok()) << state.status().text();
  EXPECT_EQ(described(*state), released("coordinator_1.txt"));

  auto fresh = CoordinatorJournal::open(
      {.journal = {.path = folder_ / "fresh.db", .durability = Durability::stop}});
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ(tables((*journal)->database()), tables((*fresh)->database()))
      << "old and new journals must have the same tables";
}

// A reader cannot migrate the file, and need not.
TEST_F(Released, ARunOfVersion1IsReadAsItIs) {
  const std::string path = make("coordinator_1");
  const auto file = RunFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().text();
  const auto jobs = (*file)->jobs();
  ASSERT_TRUE(jobs.ok()) << jobs.status().text();
  ASSERT_FALSE(jobs->empty());
  for (const JobRecord& job : *jobs) {
    const auto reports = (*file)->agent_rounds(job.job, 0, 1'000'000);
    ASSERT_TRUE(reports.ok()) << reports.status().text();
    for (const AgentRoundRecord& report : *reports) {
      EXPECT_TRUE(std::isnan(report.decode_s));
      EXPECT_TRUE(std::isnan(report.gain));
      EXPECT_EQ(report.mechanisms, nullptr);
    }
    const auto rounds = (*file)->rounds(job.job, 0, 1'000'000);
    ASSERT_TRUE(rounds.ok()) << rounds.status().text();
    for (const RoundRecord& round : *rounds) {
      const auto mechanisms = (*file)->round_mechanisms(job.job, round.id.round);
      ASSERT_TRUE(mechanisms.ok()) << mechanisms.status().text();
      EXPECT_EQ(*mechanisms, nullptr);
    }
  }
}

class ReleasedAgent : public Released, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Versions, ReleasedAgent, testing::Values("agent_1", "agent_2"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(ReleasedAgent, IsTakenToThisVersion) {
  const std::string path = make(GetParam());
  auto journal = AgentJournal::open({.path = path, .durability = Durability::stop});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  const auto state = (*journal)->restore();
  ASSERT_TRUE(state.ok()) << state.status().text();
  EXPECT_EQ(described(*state), released(std::string(GetParam()) + ".txt"));

  auto fresh = AgentJournal::open({.path = folder_ / "fresh.db", .durability = Durability::stop});
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ(tables((*journal)->database()), tables((*fresh)->database()))
      << "old and new journals must have the same tables";
}

TEST_F(Released, ANewerJournalIsRefused) {
  const std::string path = make("agent_1");
  {
    auto database = Database::open(path, {.sync = false});
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->execute("PRAGMA user_version = 1000").ok());
  }
  const auto journal = AgentJournal::open({.path = path, .durability = Durability::stop});
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.status().code(), StatusCode::unsupported);
  EXPECT_FALSE(worth_retrying(journal.status()));
}

}  // namespace
}  // namespace tributary::store_testing
