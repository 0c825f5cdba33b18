// An agent's journal after the machine was started again, as after a power failure. A start is
// simulated by another boot id: the records are complete here, but the journal cannot know that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "core/store/agent/agent_journal.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

constexpr std::uint64_t kJob = 7;
constexpr RoundKey kRound = {.job = kJob, .round = 5, .epoch = 2, .attempt = 0};

class PowerFailure : public testing::Test {
 protected:
  // Opens the journal as a process does after the machine's start `boot`.
  void open(const std::string& boot, Durability durability) {
    journal_.reset();
    auto opened = AgentJournal::open(
        {.path = folder_ / "agent.db", .durability = durability, .boot_id = boot});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    journal_ = std::move(*opened);
  }
  // Stores a replica with a residual of norm 5, and a contribution.
  void store() {
    AgentJobRecord job;
    job.job = kJob;
    ASSERT_TRUE(journal_->store(job).ok());
    ReplicaRecord replica;
    replica.job = kJob;
    replica.model_version = 4;
    replica.model = std::make_shared<FloatVector>(FloatVector{1, 2});
    replica.residual = std::make_shared<FloatVector>(FloatVector{3, 4});
    replica.residual_stamp.version = 4;
    replica.residual_stamp.updates_taken = 6;
    replica.residual_stamp.update_round = 5;
    ASSERT_TRUE(journal_->store(replica).ok());
    ContributionRecord contribution;
    contribution.id = kRound;
    contribution.residual_stamp = replica.residual_stamp;
    contribution.parts = {{.bucket = 0,
                           .first_value = 0,
                           .values = 2,
                           .if_committed = std::make_shared<FloatVector>(FloatVector{1, 1})}};
    ASSERT_TRUE(journal_->store(contribution).ok());
  }
  AgentState restored() {
    auto state = journal_->restore();
    EXPECT_TRUE(state.ok()) << state.status().text();
    return state.ok() ? std::move(*state) : AgentState{};
  }
  void expect_whole() {
    EXPECT_FALSE(journal_->residual_dropped());
    const AgentState state = restored();
    ASSERT_TRUE(state.replica && state.replica->residual);
    EXPECT_EQ(*state.replica->residual, (FloatVector{3, 4}));
    EXPECT_EQ(state.undecided.size(), 1u);
  }
  void expect_dropped() {
    EXPECT_EQ(journal_->residual_dropped(), std::optional<double>(5));
    const AgentState state = restored();
    ASSERT_TRUE(state.job && state.replica && state.replica->model);
    EXPECT_EQ(*state.replica->model, (FloatVector{1, 2})) << "the model stays";
    EXPECT_EQ(state.replica->residual, nullptr);
    EXPECT_TRUE(state.undecided.empty());
    const ResidualStamp& stamp = state.replica->residual_stamp;
    EXPECT_EQ(stamp.updates_taken, 6u);
    EXPECT_EQ(stamp.update_round, 0u) << "no update is in the residual any more";
  }

  store_testing::Folder folder_;
  std::unique_ptr<AgentJournal> journal_;
};

TEST_F(PowerFailure, DropsTheResidualIfRecordsMayBeMissing) {
  open("first", Durability::seconds_30);
  store();
  open("second", Durability::seconds_30);
  expect_dropped();
  EXPECT_EQ(journal_->residuals_dropped().value(), 1u);
}

TEST_F(PowerFailure, DropsItWhateverTheNextProcessIsSetTo) {
  open("first", Durability::stop);
  store();
  open("second", Durability::round);
  expect_dropped();
  open("third", Durability::round);
  EXPECT_FALSE(journal_->residual_dropped()) << "the process before made each record durable";
  EXPECT_EQ(journal_->residuals_dropped().value(), 1u);
}

TEST_F(PowerFailure, AKilledProcessLosesNothing) {
  open("first", Durability::stop);
  store();
  open("first", Durability::stop);
  expect_whole();
}

TEST_F(PowerFailure, AJournalThatWasClosedLosesNothing) {
  open("first", Durability::stop);
  store();
  ASSERT_TRUE(journal_->close().ok());
  open("second", Durability::stop);
  expect_whole();
}

TEST_F(PowerFailure, ADurableRoundLosesNothing) {
  open("first", Durability::round);
  store();
  open("second", Durability::stop);
  expect_whole();
}

// A process that has dropped the residual and is killed has nothing to drop again.
TEST_F(PowerFailure, IsHandledOnce) {
  open("first", Durability::stop);
  store();
  open("second", Durability::stop);
  open("second", Durability::stop);
  EXPECT_FALSE(journal_->residual_dropped());
  EXPECT_EQ(restored().replica->residual, nullptr);
}

}  // namespace
}  // namespace tributary
