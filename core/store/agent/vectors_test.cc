// The vectors of an agent's journal, which are beside its database: how often they are written, and
// what the agent has after damage.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "core/store/agent/agent_journal.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"
#include "core/store/testing/mirror_testing.h"

namespace tributary::store_testing {
namespace {

constexpr std::uint32_t kBucketValues = 400'000;
constexpr std::uint32_t kVectorValues = 3 * kBucketValues;
constexpr std::uint64_t kVectorBytes = kVectorValues * sizeof(float);

class AgentVectors : public testing::Test {
 protected:
  void SetUp() override { open(); }

  void open(JournalOptions options = {}) {
    journal_.reset();
    options.path = path_;
    options.durability = Durability::stop;
    auto opened = AgentJournal::open(options);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    journal_ = std::move(*opened);
  }
  static SharedFloats vector_with(float value, std::uint64_t values = kVectorValues) {
    auto floats = std::make_shared<FloatVector>(values, value);
    // No two pages are equal.
    for (std::uint64_t i = 0; i < values; i += 256) (*floats)[i] += static_cast<float>(i);
    return floats;
  }
  void store(const AgentRecordToStore& record) { ASSERT_EQ(journal_->store(record).text(), "ok"); }
  void store_replica(bool with_model, SharedFloats residual) {
    ReplicaRecord replica;
    replica.job = 1;
    replica.model_version = 3;
    if (with_model) replica.model = vector_with(9);
    replica.residual = std::move(residual);
    replica.residual_stamp.updates_taken = 5;
    replica.residual_stamp.update_round = 3;
    store(replica);
  }
  // The parts of a round; the residual after its commit is made of them.
  SharedFloats store_contribution(std::uint64_t round) {
    ContributionRecord contribution;
    contribution.id = {.job = 1, .round = round, .epoch = 1, .attempt = 0};
    auto residual = std::make_shared<FloatVector>();
    for (std::uint32_t bucket = 0; bucket < 3; ++bucket) {
      const SharedFloats part = vector_with(static_cast<float>(3 * round + bucket), kBucketValues);
      contribution.parts.push_back({.bucket = bucket,
                                    .first_value = bucket * std::uint64_t{kBucketValues},
                                    .values = kBucketValues,
                                    .if_committed = part});
      residual->insert(residual->end(), part->begin(), part->end());
    }
    store(contribution);
    return residual;
  }
  AgentState restored() {
    auto state = journal_->restore();
    EXPECT_TRUE(state.ok()) << state.status().text();
    return state.ok() ? std::move(*state) : AgentState{};
  }
  std::uint64_t vectors_bytes() { return std::filesystem::file_size(journal_->vectors_path()); }

  // Changes a byte of the chunk that holds this byte of the column's value.
  void damage(const std::string& column, const std::string& table) {
    std::uint64_t slot = 0;
    ASSERT_TRUE(journal_->database()
                    .first("SELECT slot FROM blob_chunks JOIN " + table + " ON blob = " + column +
                               " WHERE slot IS NOT NULL ORDER BY place LIMIT 1",
                           std::tie(slot))
                    .value());
    std::fstream file(journal_->vectors_path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(slot + 1000));
    file << "torn";
  }

  Folder folder_;
  const std::string path_ = folder_ / "agent.db";
  std::unique_ptr<AgentJournal> journal_;
};

// Model, residual and the parts of one round, and gaps that are too short for a chunk.
TEST_F(AgentVectors, AreWrittenOnceInARoundAndOverwriteOlderOnes) {
  store_replica(true, nullptr);
  SharedFloats residual;
  for (std::uint64_t round = 1; round < 5; ++round) {
    residual = store_contribution(round);
    store_replica(false, residual);
  }
  const std::uint64_t pages = journal_->database().bytes_written();
  for (std::uint64_t round = 5; round < 25; ++round) {
    residual = store_contribution(round);
    store_replica(false, residual);
  }
  EXPECT_LE(vectors_bytes(), 4 * kVectorBytes);
  EXPECT_LE((journal_->database().bytes_written() - pages) / 20, kVectorBytes / 64);
  EXPECT_EQ(*restored().replica->residual, *residual);
  open();
  EXPECT_EQ(*restored().replica->residual, *residual);
}

TEST_F(AgentVectors, OfADamagedModelAreSentAgainAndTheResidualStays) {
  store_replica(true, vector_with(2));
  damage("model", "replica");
  open();
  const AgentState state = restored();
  EXPECT_TRUE(journal_->damage().model);
  EXPECT_FALSE(journal_->residual_dropped());
  ASSERT_TRUE(state.replica && state.replica->residual);
  EXPECT_EQ(state.replica->model, nullptr);
  EXPECT_EQ(*state.replica->residual, *vector_with(2));
  store_replica(true, vector_with(2));
  open();
  EXPECT_NE(restored().replica->model, nullptr);
  EXPECT_FALSE(journal_->damage().model);
}

TEST_F(AgentVectors, OfADamagedResidualAreDroppedAndTheModelStays) {
  store_replica(true, vector_with(2));
  store_contribution(4);
  damage("residual", "residual");
  open();
  const AgentState state = restored();
  ASSERT_TRUE(journal_->residual_dropped());
  EXPECT_GT(*journal_->residual_dropped(), 0);
  EXPECT_EQ(journal_->damage().residual_values, kChunkBytes / sizeof(float));
  ASSERT_TRUE(state.replica && state.replica->model);
  EXPECT_EQ(state.replica->residual, nullptr);
  EXPECT_EQ(state.replica->residual_stamp.updates_taken, 5u);
  EXPECT_EQ(state.replica->residual_stamp.update_round, 0u);
  EXPECT_TRUE(state.undecided.empty());
  EXPECT_EQ(journal_->residuals_dropped().value(), 1u);
  open();
  EXPECT_EQ(restored().replica->residual, nullptr);
  EXPECT_FALSE(journal_->residual_dropped()) << "once";
}

TEST_F(AgentVectors, OfADamagedContributionAreDroppedWithTheResidual) {
  store_replica(true, vector_with(2));
  store_contribution(4);
  damage("if_committed", "parts");
  open();
  const AgentState state = restored();
  EXPECT_TRUE(journal_->residual_dropped());
  EXPECT_TRUE(state.undecided.empty());
  EXPECT_EQ(state.replica->residual, nullptr);
}

// As if the system had never written the file.
TEST_F(AgentVectors, AllOfThemMayBeLost) {
  AgentJobRecord job;
  job.job = 1;
  store(job);
  store_replica(true, vector_with(2));
  store_contribution(4);
  std::filesystem::resize_file(journal_->vectors_path(), 0);
  open();
  const AgentState state = restored();
  EXPECT_TRUE(journal_->damage().model);
  EXPECT_TRUE(journal_->residual_dropped());
  ASSERT_TRUE(state.job && state.replica);
  EXPECT_EQ(state.replica->model, nullptr);
  EXPECT_EQ(state.replica->residual, nullptr);
  store_replica(true, vector_with(7));
  open();
  EXPECT_EQ(*restored().replica->residual, *vector_with(7));
}

// A journal of version 5 has all chunks as rows. They stay where they are until they are replaced.
TEST_F(AgentVectors, OfVersion5BecomeVectorsWhenTheyAreReplaced) {
  open({.path = path_, .large_chunk_bytes = UINT64_MAX});
  AgentLife life(8, 20'000);
  AgentMirror mirror;
  const auto store_some = [&] {
    for (int i = 0; i < 20; ++i) {
      const AgentRecordToStore record = life.next();
      store(record);
      mirror.store(record);
    }
  };
  store_some();
  EXPECT_EQ(vectors_bytes(), 0u);
  ASSERT_EQ(journal_->database()
                .execute("ALTER TABLE blob_chunks DROP COLUMN slot; PRAGMA user_version = 5")
                .text(),
            "ok");
  open();
  EXPECT_EQ(described(restored()), described(mirror.state()));
  store_some();
  EXPECT_GT(vectors_bytes(), 0u);
  open();
  EXPECT_EQ(described(restored()), described(mirror.state()));
}

TEST_F(AgentVectors, AreSetAsideWithADamagedJournal) {
  store_replica(true, nullptr);
  const std::string vectors = journal_->vectors_path();
  journal_.reset();
  const auto aside = AgentJournal::set_aside(path_);
  ASSERT_TRUE(aside.ok()) << aside.status().text();
  EXPECT_FALSE(std::filesystem::exists(vectors));
  EXPECT_TRUE(std::filesystem::exists(path_ + ".damaged-vectors"));
}

}  // namespace
}  // namespace tributary::store_testing
