// Tests of the results of earlier rounds: their memory has a bound, and agents that are behind get
// the others from the journal.
#include "core/round/coordinator/commit/late_results.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/round/common/plan/mechanisms.h"
#include "core/round/coordinator/commit/committed_model_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::JobTest;
using round_testing::kSmallJob;

constexpr std::uint64_t kRounds = 10;

// A job of one bucket, whose rounds have results of the same size. Memory holds those of two.
class LateResultsTest : public JobTest {
 protected:
  LateResultsTest() {
    open_epoch(1, kRounds);
    for (std::uint64_t round = 1; round <= kRounds; ++round) publish(round);
  }

  static std::uint64_t payload_bytes() { return 4 * round_testing::kSmallValues + 100; }

  void publish(std::uint64_t round) {
    publish(round, committed_.history());
    committed_.replace(round_testing::model_state(round, 1));
  }
  void publish(std::uint64_t round, History& history) {
    Published published;
    published.plan = make_plan(round);
    RoundRecord record;
    record.id = published.plan->key();
    published.record = std::make_shared<const RoundRecord>(std::move(record));
    published.combined[0] = {payload(round)};
    published.contributors[0] = 1;
    published.bytes = payload_bytes();
    history.publish(std::move(published));
  }
  static SharedBytes payload(std::uint64_t round) {
    return std::make_shared<const Bytes>(payload_bytes(), static_cast<std::uint8_t>(round));
  }

  const Published& published(std::uint64_t round) const {
    return *committed_.history().published(round);
  }
  // An agent that has everything up to this round asks for what follows.
  std::uint64_t request(AgentSession& session, std::uint64_t from = 0) {
    return late_.send(session, published(session.version + 1), {.from = from});
  }
  // The journal's answer to the last request.
  RoundLoaded answer() const {
    const LoadRound load = actions<LoadRound>().back();
    return {.token = load.token,
            .round = *published(load.round).record,
            .epoch = {},
            .results = {{.bucket = 0, .stage = 0, .payload = payload(load.round)}}};
  }
  std::uint64_t sent_bytes(const AgentSession& session) const {
    std::uint64_t bytes = 0;
    for (const wire::AggregateT& message : sent<wire::AggregateT>(session)) {
      bytes += message.part->payload_bytes;
    }
    return bytes;
  }

  CommittedModel committed_{100 * payload_bytes(), 20, 2 * payload_bytes()};
  LateResults late_{job_, committed_};
};

TEST_F(LateResultsTest, TheMemoryOfResultsIsBounded) {
  EXPECT_EQ(committed_.history().bytes_in_memory(), 2 * payload_bytes());
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    EXPECT_EQ(published(round).in_memory, round > kRounds - 2) << round;
    EXPECT_EQ(published(round).combined.empty(), round <= kRounds - 2) << round;
  }
}

TEST_F(LateResultsTest, AnAgentGetsAtOnceWhatIsInMemory) {
  AgentSession& session = add_agent("b", kRounds - 2);
  EXPECT_EQ(request(session, 100), payload_bytes() - 100);
  EXPECT_EQ(sent_bytes(session), payload_bytes() - 100);
  EXPECT_TRUE(actions<LoadRound>().empty());
}

TEST_F(LateResultsTest, AnAgentGetsTheRestFromTheJournal) {
  AgentSession& session = add_agent("b", 3);
  EXPECT_EQ(request(session, 100), 0u);
  ASSERT_EQ(actions<LoadRound>().size(), 1u);
  EXPECT_EQ(actions<LoadRound>()[0].job, kSmallJob);
  EXPECT_EQ(actions<LoadRound>()[0].round, 4u);
  EXPECT_EQ(actions<LoadRound>()[0].results_of, 0u);
  const auto sent = late_.loaded(answer());
  ASSERT_TRUE(sent);
  EXPECT_TRUE(sent->failed.empty());
  EXPECT_EQ(sent->bytes, payload_bytes() - 100);
  EXPECT_EQ(sent_bytes(session), payload_bytes() - 100);
}

TEST_F(LateResultsTest, SessionsShareWhatWasRead) {
  AgentSession& first = add_agent("b", 3);
  AgentSession& second = add_agent("c", 3);
  AgentSession& third = add_agent("d", 3);
  request(first);
  request(first);
  request(second);
  const RoundLoaded event = answer();
  EXPECT_EQ(late_.loaded(event)->bytes, 2 * payload_bytes());
  EXPECT_EQ(request(third), payload_bytes());
  EXPECT_EQ(actions<LoadRound>().size(), 1u);
  EXPECT_EQ(late_.bytes_read(), payload_bytes());
}

TEST_F(LateResultsTest, WhatWasReadIsFreedWithTheLastSessionThatIsSentIt) {
  AgentSession& session = add_agent("b", 3);
  request(session);
  late_.loaded(answer());
  EXPECT_EQ(late_.bytes_read(), payload_bytes());
  forget_actions();
  coordinator_.roster.remove(session.conversation.session());
  EXPECT_EQ(late_.bytes_read(), 0u);
}

TEST_F(LateResultsTest, OneResultIsReadAtATime) {
  for (std::uint64_t version = 0; version < 5; ++version) {
    request(add_agent("late-" + std::to_string(version), version));
  }
  for (std::size_t read = 1; read <= 5; ++read) {
    ASSERT_EQ(actions<LoadRound>().size(), read);
    EXPECT_EQ(actions<LoadRound>().back().round, read) << "the oldest first";
    late_.loaded(answer());
  }
  EXPECT_EQ(actions<LoadRound>().size(), 5u);
}

TEST_F(LateResultsTest, AnAgentWhoseResultsCannotBeReadHasFailed) {
  AgentSession& session = add_agent("b", 3);
  request(session);
  RoundLoaded event = answer();
  event = {.token = event.token,
           .status = Status(StatusCode::io_error, {.what = "the disk"}),
           .round = {},
           .epoch = {}};
  const auto sent = late_.loaded(event);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->failed, std::vector<AgentSession*>{&session});
  EXPECT_EQ(noted("results_unread"), std::vector<std::string>{"io_error"});
}

TEST_F(LateResultsTest, ResultsThatAreNotCompleteAreNotSent) {
  AgentSession& session = add_agent("b", 3);
  request(session);
  RoundLoaded gone = answer();
  gone.results.clear();
  EXPECT_EQ(late_.loaded(gone)->failed.size(), 1u);
  request(session);
  RoundLoaded other = answer();
  ++other.round->id.attempt;
  EXPECT_EQ(late_.loaded(other)->failed.size(), 1u);
  EXPECT_EQ(sent_bytes(session), 0u);
}

TEST_F(LateResultsTest, ARoundThatHasLeftTheHistoryIsNotSent) {
  AgentSession& session = add_agent("b", 0);
  request(session);
  const RoundLoaded event = answer();
  for (std::uint64_t round = kRounds + 1; round <= 110; ++round) publish(round);
  ASSERT_EQ(committed_.history().published(1), nullptr);
  EXPECT_EQ(late_.loaded(event)->failed.size(), 1u);
}

TEST_F(LateResultsTest, AnAgentThatHasGoneOnGetsNothing) {
  AgentSession& on = add_agent("b", 3);
  AgentSession& away = add_agent("c", 3);
  request(on);
  request(away);
  on.version = 4;
  coordinator_.roster.remove(away.conversation.session());
  const auto sent = late_.loaded(answer());
  EXPECT_EQ(sent->bytes, 0u);
  EXPECT_TRUE(sent->failed.empty());
}

TEST_F(LateResultsTest, OnlyTheRoundAfterItsModelIsReadForAnAgent) {
  AgentSession& session = add_agent("b", 3);
  EXPECT_EQ(late_.send(session, published(6), {}), 0u);
  EXPECT_TRUE(actions<LoadRound>().empty());
}

TEST_F(LateResultsTest, AnswersToOtherRequestsAreNotTaken) {
  EXPECT_FALSE(late_.loaded({.token = 1, .round = {}, .epoch = {}}));
  request(add_agent("b", 3));
  EXPECT_FALSE(
      late_.loaded({.token = actions<LoadRound>()[0].token + 1, .round = {}, .epoch = {}}));
}

// --- the facts of a round ---

std::map<std::string, std::uint64_t> counts_of(const Tallies& tallies) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& tally : tallies) counts[tally->of] = tally->count;
  return counts;
}

TEST_F(LateResultsTest, TheFactsNameTheRoundsThatWereReadAndTheirAgents) {
  request(add_agent("b", 3));
  request(add_agent("c", 3));
  request(add_agent("d", 4));
  late_.loaded(answer());
  late_.loaded(answer());
  request(add_agent("e", 3));
  request(add_agent("f", kRounds - 1));
  wire::RoundMechanismsT facts;
  late_.add_facts(facts);
  using Counts = std::map<std::string, std::uint64_t>;
  EXPECT_EQ(counts_of(facts.results_read_of_round), (Counts{{"4", 1}, {"5", 1}}));
  EXPECT_EQ(facts.results_read_bytes, 2 * payload_bytes());
  EXPECT_EQ(counts_of(facts.results_read_for), (Counts{{"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}}))
      << "the results for f are in memory";
}

TEST_F(LateResultsTest, WhatWasReadIsAFactOfOneRound) {
  request(add_agent("b", 3));
  late_.loaded(answer());
  late_.facts_stored();
  wire::RoundMechanismsT facts;
  late_.add_facts(facts);
  EXPECT_TRUE(facts.results_read_of_round.empty());
  EXPECT_EQ(facts.results_read_bytes, 0u);
  EXPECT_TRUE(facts.results_read_for.empty());
}

TEST_F(LateResultsTest, ResultsThatCannotBeReadAreNoFact) {
  request(add_agent("b", 3));
  RoundLoaded gone = answer();
  gone.results.clear();
  late_.loaded(gone);
  wire::RoundMechanismsT facts;
  late_.add_facts(facts);
  EXPECT_TRUE(facts.results_read_of_round.empty());
  EXPECT_TRUE(facts.results_read_for.empty());
}

// --- the last round ---

TEST_F(LateResultsTest, LargeResultsOfTheLastRoundLeaveMemoryIfTheJournalKeepsThem) {
  History kept(2 * payload_bytes(), 20, payload_bytes() - 1);
  History not_kept(2 * payload_bytes() - 1, 20, payload_bytes() - 1);
  History small(2 * payload_bytes(), 20, payload_bytes());
  for (History* history : {&kept, &not_kept, &small}) {
    history->free_large_payloads();
    publish(1, *history);
    history->free_large_payloads();
  }
  EXPECT_NE(kept.journal_from(1, payload_bytes()), 0u);
  EXPECT_FALSE(kept.published(1)->in_memory);
  EXPECT_EQ(kept.bytes_in_memory(), 0u);
  EXPECT_TRUE(not_kept.published(1)->in_memory);
  EXPECT_TRUE(small.published(1)->in_memory);
}

// --- what the journal must keep ---

TEST_F(LateResultsTest, TheJournalKeepsWhatTheHistoryNames) {
  EXPECT_EQ(committed_.history().journal_from(11, payload_bytes()), 1u);
  EXPECT_EQ(committed_.history().journal_from(11, 45 * payload_bytes()), 1u);
  EXPECT_EQ(committed_.history().journal_from(11, 50 * payload_bytes()), 1u);
  EXPECT_EQ(committed_.history().journal_from(11, 51 * payload_bytes()), 0u)
      << "none with the next";
  const History narrow(5 * payload_bytes(), 20, payload_bytes());
  EXPECT_EQ(narrow.journal_from(11, payload_bytes()), 11u);
}

// Without its outcome, the model that an agent makes of a round could not be checked.
TEST_F(LateResultsTest, ARoundIsKeptNoLongerThanItsOutcome) {
  History few(100 * payload_bytes(), 3, payload_bytes());
  for (std::uint64_t round = 1; round <= 5; ++round) publish(round, few);
  EXPECT_EQ(few.published(2), nullptr);
  EXPECT_NE(few.published(3), nullptr);
  EXPECT_NE(few.outcome(3), nullptr);
  EXPECT_EQ(few.journal_from(6, payload_bytes()), 4u);
}

TEST_F(LateResultsTest, TheJournalKeepsNothingIfMemoryHoldsAll) {
  EXPECT_EQ(History(100, 20, 100).journal_from(11, 1), 0u);
}

}  // namespace
}  // namespace tributary
