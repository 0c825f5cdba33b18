// Tests of the answers to agents about undecided rounds: from memory if the round is recent,
// otherwise from the journal.
#include "core/round/coordinator/commit/settlements.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/round/coordinator/commit/committed_model_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::JobTest;
using round_testing::kSmallJob;

// A job whose rounds have known outcomes for agent-000 and agent-001.
class SettlementsTest : public JobTest {
 protected:
  // A round of two buckets: agent-000 contributed to the first, agent-001 to both.
  static RoundRecord settled_round(std::uint64_t round) {
    RoundRecord record;
    record.id = key(round);
    record.members = 2;
    record.buckets = 2;
    record.contributor_sets = {{.bits = {0b11}, .contributors = 2, .divisor = 2},
                               {.bits = {0b10}, .contributors = 1, .divisor = 1}};
    record.outcomes = {{.bucket = 0, .contributor_set = 0}, {.bucket = 1, .contributor_set = 1}};
    return record;
  }
  static EpochRecord settled_epoch() {
    return {.job = kSmallJob,
            .epoch = 1,
            .first_round = 1,
            .members = {{.agent_id = "agent-000"}, {.agent_id = "agent-001"}}};
  }
  static RoundKey key(std::uint64_t round, std::uint32_t attempt = 0) {
    return {.job = kSmallJob, .round = round, .epoch = 1, .attempt = attempt};
  }

  SettlementsTest() {
    open_epoch(2);
    committed_.replace(round_testing::model_state(20, 1));
    committed_.history().add_epoch(std::make_shared<const EpochRecord>(settled_epoch()));
    for (const std::uint64_t round : {19u, 20u}) {
      committed_.history().add_outcome(std::make_shared<const RoundRecord>(settled_round(round)));
    }
  }
  // The journal's answer to the last request.
  RoundLoaded answer(std::optional<RoundRecord> round) const {
    RoundLoaded event{.token = actions<LoadRound>().back().token, .round = {}, .epoch = {}};
    if (round) event.epoch = settled_epoch();
    event.round = std::move(round);
    return event;
  }
  AgentSession& first() { return member(0); }

  CommittedModel committed_{1'000, 20};
  Settlements settlements_{job_, committed_};
};

TEST_F(SettlementsTest, RecentRoundsAreSettledWithoutBeingAskedFor) {
  const auto settled = settlements_.up_to(first(), 20);
  ASSERT_TRUE(settled);
  ASSERT_EQ(settled->size(), 2u);
  EXPECT_EQ((*settled)[0].id->round(), 20u);
  EXPECT_TRUE((*settled)[0].committed);
  EXPECT_EQ((*settled)[0].buckets, 2u);
  EXPECT_EQ((*settled)[0].contributed_bits, std::vector<std::uint8_t>{0b01});
  EXPECT_EQ(settlements_.up_to(member(1), 20)->front().contributed_bits,
            std::vector<std::uint8_t>{0b11});
}

// The agent is far behind: its reports wait behind an upload.
TEST_F(SettlementsTest, RoundsThatTheAgentMayHaveBegunAreSettledWithoutBeingAskedFor) {
  for (std::uint64_t round = 1; round <= 18; ++round) {
    committed_.history().add_outcome(std::make_shared<const RoundRecord>(settled_round(round)));
  }
  const auto rounds = [&] {
    std::vector<std::uint64_t> numbers;
    const auto settled = settlements_.up_to(first(), 20);
    for (const auto& settlement : *settled) numbers.push_back(settlement.id->round());
    return numbers;
  };
  first().version = 5;
  first().commit_sent = 6;
  EXPECT_EQ(rounds(), (std::vector<std::uint64_t>{6, 7, 20, 19, 18, 17, 16, 15}));
  first().version = first().commit_sent = 19;
  EXPECT_EQ(rounds(), (std::vector<std::uint64_t>{20, 19, 18, 17, 16, 15, 14, 13}));
}

TEST_F(SettlementsTest, RoundsAfterTheModelsVersionAreLeftOut) {
  first().undecided = {key(20)};
  const auto settled = settlements_.up_to(first(), 19);
  ASSERT_EQ(settled->size(), 1u);
  EXPECT_EQ((*settled)[0].id->round(), 19u);
}

TEST_F(SettlementsTest, AnAttemptThatWasGivenUpIsNotCommitted) {
  first().undecided = {key(20, 3)};
  const auto settled = settlements_.up_to(first(), 20);
  EXPECT_EQ((*settled)[0].id->attempt(), 3u);
  EXPECT_FALSE((*settled)[0].committed);
}

TEST_F(SettlementsTest, TheJournalIsAskedForARoundThatIsNotInMemory) {
  first().undecided = {key(2)};
  EXPECT_FALSE(settlements_.up_to(first(), 20));
  ASSERT_EQ(actions<LoadRound>().size(), 1u);
  EXPECT_EQ(actions<LoadRound>()[0].job, kSmallJob);
  EXPECT_EQ(actions<LoadRound>()[0].round, 2u);

  first().transfer_requested = true;
  EXPECT_EQ(settlements_.take(answer(settled_round(2))), &first());
  EXPECT_FALSE(first().transfer_requested);
  const auto settled = settlements_.up_to(first(), 20);
  ASSERT_TRUE(settled);
  EXPECT_EQ((*settled)[0].id->round(), 2u);
  EXPECT_TRUE((*settled)[0].committed);
  EXPECT_EQ((*settled)[0].contributed_bits, std::vector<std::uint8_t>{0b01});
}

TEST_F(SettlementsTest, AJournalThatCannotBeReadIsAskedAgainAndDecidesNothing) {
  first().undecided = {key(2)};
  settlements_.up_to(first(), 20);
  first().transfer_requested = true;
  const auto unreadable = [&] {
    RoundLoaded event = answer(std::nullopt);
    event.status = Status(StatusCode::io_error, {.what = "the journal"});
    return event;
  };
  for (std::uint32_t reads = 1; reads < Settlements::kReadsMax; ++reads) {
    EXPECT_EQ(settlements_.take(unreadable()), nullptr);
    EXPECT_EQ(settlements_.take(answer(settled_round(2))), nullptr) << "it was answered already";
    settlements_.load_again();
    EXPECT_EQ(actions<LoadRound>().size(), reads) << "before its time";
    coordinator_.now = settlements_.next_due_ns();
    settlements_.load_again();
    EXPECT_EQ(actions<LoadRound>().size(), reads + 1);
  }
  EXPECT_TRUE(first().transfer_requested);
  EXPECT_EQ(settlements_.take(unreadable()), nullptr);
  EXPECT_EQ(settlements_.next_due_ns(), kNever) << "the attempts are limited";
  EXPECT_EQ(noted("outcome_unread"), std::vector<std::string>{"io_error"});
  EXPECT_FALSE(first().transfer_requested) << "the agent may ask again";
  EXPECT_EQ(first().undecided.size(), 1u) << "a contribution that may have counted";
}

TEST_F(SettlementsTest, TheJournalIsAskedForOneRoundAfterTheOther) {
  first().undecided = {key(2), key(3)};
  settlements_.up_to(first(), 20);
  settlements_.take(answer(settled_round(2)));
  EXPECT_FALSE(settlements_.up_to(first(), 20));
  EXPECT_EQ(actions<LoadRound>().back().round, 3u);
  settlements_.take(answer(settled_round(3)));
  EXPECT_EQ(settlements_.up_to(first(), 20)->size(), 4u);
}

TEST_F(SettlementsTest, ARoundThatTheJournalDoesNotHaveIsNotUndecided) {
  first().undecided = {key(2), key(20)};
  settlements_.up_to(first(), 20);
  EXPECT_EQ(settlements_.take(answer({})), &first());
  EXPECT_EQ(first().undecided, std::vector<RoundKey>{key(20)});
  EXPECT_TRUE(settlements_.up_to(first(), 20));
}

TEST_F(SettlementsTest, AnAnswerForAClosedSessionIsDropped) {
  first().undecided = {key(2)};
  settlements_.up_to(first(), 20);
  coordinator_.roster.remove(first().conversation.session());
  EXPECT_EQ(settlements_.take(answer(settled_round(2))), nullptr);
}

TEST_F(SettlementsTest, AnAnswerIsTakenOnce) {
  first().undecided = {key(2)};
  settlements_.up_to(first(), 20);
  const RoundLoaded event = answer(settled_round(2));
  settlements_.take(event);
  EXPECT_EQ(settlements_.take(event), nullptr);
  EXPECT_EQ(settlements_.take({.token = event.token + 1, .round = {}, .epoch = {}}), nullptr);
}

TEST_F(SettlementsTest, JournalAnswersAreKeptWhileTheSessionNeedsThem) {
  first().undecided = {key(2)};
  settlements_.up_to(first(), 20);
  settlements_.take(answer(settled_round(2)));
  first().transfer_requested = true;
  settlements_.release(first());
  EXPECT_TRUE(settlements_.up_to(first(), 20));
  first().transfer_requested = false;
  settlements_.release(first());
  EXPECT_FALSE(settlements_.up_to(first(), 20));
}

}  // namespace
}  // namespace tributary
