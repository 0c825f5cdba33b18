// Tests of bringing an agent to the current version: by commits if it is near, by the whole model
// if it is far behind. catch_up_transfers_test.cc tests the transfers.
#include "core/round/coordinator/commit/catch_up.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/round/coordinator/commit/catch_up_testing.h"

namespace tributary {
namespace {

using round_testing::CatchUpTest;
using round_testing::kSmallJob;
using round_testing::kSmallValues;
using round_testing::Packed;
using round_testing::wire_id_of;

// --- standings ---

TEST_F(CatchUpTest, AnAgentWithoutTheJobLacksTheJob) {
  EXPECT_EQ(catch_up_.standing(add_new_agent("asks"), 0).catch_up, wire::CatchUp::job);
  wire::HoldingT older = holding(5, 50);
  older.job_revision = 2;
  EXPECT_EQ(standing_with(std::move(older)), wire::CatchUp::job);
  wire::HoldingT other = holding(5, 50);
  ++other.layer_map_hash;
  EXPECT_EQ(standing_with(std::move(other)), wire::CatchUp::job);
}

TEST_F(CatchUpTest, AnAgentWithTheCurrentModelLacksNothing) {
  EXPECT_EQ(standing_with(holding(5, 50)), wire::CatchUp::nothing);
}

TEST_F(CatchUpTest, AnAgentThatIsAFewRoundsBehindLacksCommits) {
  EXPECT_EQ(standing_with(holding(4, 40)), wire::CatchUp::commits);
  EXPECT_EQ(standing_with(holding(3, 30)), wire::CatchUp::commits);
}

TEST_F(CatchUpTest, AnAgentWithUnavailableRoundsNeedsTheModel) {
  EXPECT_EQ(standing_with(holding(2, 20)), wire::CatchUp::model) << "known, but too old";
  EXPECT_EQ(standing_with(holding(1, 10)), wire::CatchUp::model) << "not known";
  EXPECT_EQ(standing_with(holding(5, 51)), wire::CatchUp::model) << "another model";
}

TEST_F(CatchUpTest, AStandingNamesTheCurrentModelAndEpoch) {
  const wire::StandingT standing = catch_up_.standing(member(0), 9);
  EXPECT_EQ(standing.epoch, 9u);
  EXPECT_EQ(standing.model_version, 5u);
  EXPECT_EQ(standing.model_hash, 50u);
}

// --- greetings ---

TEST_F(CatchUpTest, AnAgentContinuesFromTheModelThatItHas) {
  AgentSession& session = add_new_agent("b");
  session.holdings = {holding(4, 40)};
  session.holdings[0].undecided.push_back(wire_id(record_of(5).id));
  catch_up_.greet(session);
  EXPECT_EQ(session.job, kSmallJob);
  EXPECT_TRUE(session.synced);
  EXPECT_EQ(session.version, 4u);
  EXPECT_EQ(session.undecided, std::vector<RoundKey>{record_of(5).id});
  catch_up_.begin(session);
  EXPECT_EQ(sent<wire::CommitT>(session).size(), 1u);
  EXPECT_TRUE(sent<wire::JobT>(session).empty());
}

TEST_F(CatchUpTest, AnAgentWithAnotherModelIsNotSynced) {
  AgentSession& session = add_new_agent("b");
  session.holdings = {holding(4, 41)};
  catch_up_.greet(session);
  EXPECT_EQ(session.job, kSmallJob);
  EXPECT_FALSE(session.synced);
}

// The journal has lost rounds that the agent has applied. The note comes once for all its agents.
TEST_F(CatchUpTest, AnAgentThatIsAheadShowsThatRoundsWereLost) {
  for (const char* const agent_id : {"b", "c"}) {
    AgentSession& session = add_new_agent(agent_id);
    session.holdings = {holding(6, 60)};
    catch_up_.greet(session);
    EXPECT_FALSE(session.synced);
    catch_up_.begin(session);
    EXPECT_EQ(offered(session).model_version, 5u);
  }
  EXPECT_EQ(noted("rounds_lost"), std::vector<std::string>{"power_failure"});
}

TEST_F(CatchUpTest, ANewAgentIsSentTheJobAndTheModelAtOnce) {
  AgentSession& session = add_new_agent("b");
  catch_up_.greet(session);
  catch_up_.begin(session);
  ASSERT_EQ(sent<wire::JobT>(session).size(), 1u);
  EXPECT_EQ(sent<wire::JobT>(session)[0].name, "job");
  EXPECT_EQ(offered(session).model_version, 5u);
  catch_up_.answered(session, {.kind = wire::Message::Job, .tag = kSmallJob});
  EXPECT_EQ(session.job, kSmallJob);
  take_transfer(session);
  EXPECT_TRUE(session.ready(kSmallJob, 5));
}

TEST_F(CatchUpTest, AnAgentOfAJobThatDoesNotRunReceivesItsState) {
  job_.record.state = wire::JobState::paused;
  job_.record.state_reason = "by the operator";
  job_.record.change = 1;
  catch_up_.begin(member(0));
  const auto changes = sent<wire::JobChangeT>(member(0));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].state, wire::JobState::paused);
  EXPECT_EQ(changes[0].reason, "by the operator");
}

// --- commits ---

TEST_F(CatchUpTest, AnAgentThatIsNearIsSentOneCommitAfterTheOther) {
  AgentSession& session = add_agent("b", 3);
  catch_up_.advance(session);
  catch_up_.advance(session);
  ASSERT_EQ(sent<wire::CommitT>(session).size(), 1u) << "one at a time";
  EXPECT_EQ(sent<wire::CommitT>(session)[0].model_version, 4u);
  ASSERT_EQ(sent<wire::PlanT>(session).size(), 1u) << "a commit needs its plan";
  EXPECT_EQ(sent<wire::PlanT>(session)[0].weight, 0);
  EXPECT_TRUE(apply(session, 4, 40));
  ASSERT_EQ(sent<wire::CommitT>(session).size(), 2u);
  EXPECT_TRUE(apply(session, 5, 50));
  EXPECT_EQ(session.version, 5u);
  EXPECT_EQ(sent<wire::CommitT>(session).size(), 2u);
}

TEST_F(CatchUpTest, AnAgentThatHasThePlanIsSentTheCommitAlone) {
  AgentSession& session = add_agent("b", 4);
  session.plan_sent = record_of(5).id;
  catch_up_.advance(session);
  EXPECT_EQ(sent<wire::CommitT>(session).size(), 1u);
  EXPECT_TRUE(sent<wire::PlanT>(session).empty());
}

// The snapshot may be older than the agent's model, and then the agent has dropped the plan.
TEST_F(CatchUpTest, APlanFollowsAgainAfterADownload) {
  AgentSession& session = add_agent_without_model("b");
  catch_up_.advance(session);
  publish(6);
  session.plan_sent = record_of(6).id;
  take_transfer(session);
  EXPECT_EQ(sent<wire::CommitT>(session).size(), 1u);
  EXPECT_EQ(sent<wire::PlanT>(session).size(), 1u);
}

TEST_F(CatchUpTest, AnAgentThatIsFarBehindIsOfferedTheModel) {
  AgentSession& session = add_agent("b", 2);
  catch_up_.advance(session);
  EXPECT_TRUE(sent<wire::CommitT>(session).empty());
  const wire::TransferOfferT offer = offered(session);
  EXPECT_EQ(offer.model_version, 5u);
  EXPECT_EQ(offer.model_hash, 50u);
  EXPECT_EQ(offer.bytes, kSmallValues * sizeof(float));
  EXPECT_EQ(sent<wire::TransferPartT>(session).size(), 1u);
  EXPECT_FALSE(session.synced);
}

TEST_F(CatchUpTest, AnAgentThatIsCurrentOrLeavesIsSentNothing) {
  catch_up_.advance(member(0));
  AgentSession& leaving = add_agent("b", 3);
  leaving.leaving = true;
  catch_up_.advance(leaving);
  EXPECT_TRUE(coordinator_.out.empty());
}

TEST_F(CatchUpTest, ACommitThatWasNotSentOrComesAgainIsNotApplied) {
  AgentSession& session = add_agent("b", 3);
  EXPECT_FALSE(apply(session, 4, 40)) << "it was not sent";
  catch_up_.advance(session);
  EXPECT_TRUE(apply(session, 4, 40));
  EXPECT_FALSE(apply(session, 4, 40)) << "a repeat";
  EXPECT_EQ(session.version, 4u);
}

TEST_F(CatchUpTest, AnAppliedCommitDecidesItsRound) {
  AgentSession& session = add_agent("b", 3);
  session.undecided = {record_of(4).id, record_of(5).id};
  catch_up_.advance(session);
  apply(session, 4, 40);
  EXPECT_EQ(session.undecided, std::vector<RoundKey>{record_of(5).id});
}

TEST_F(CatchUpTest, AnAgentThatLacksAnAggregateIsSentTheRest) {
  wire::ReceiptT lacks;
  lacks.id = wire_id_of(record_of(5).id);
  lacks.received_bytes = 100;
  const std::uint64_t whole = committed_.history().published(5)->combined.at(0)[0]->size();
  EXPECT_EQ(catch_up_.send_missing(member(0), *Packed(lacks)), whole - 100);
  ASSERT_EQ(sent<wire::AggregateT>(member(0)).size(), 1u);
  EXPECT_EQ(sent<wire::AggregateT>(member(0))[0].part->offset, 100u);
}

// The results of the next round are in the journal alone, which cannot be read. Before the model is
// offered, the outcome of an older round is read, too.
TEST_F(CatchUpTest, AnAgentIsOfferedTheModelIfTheJournalCannotBeRead) {
  CommittedModel committed(1'000, 8, 1);
  committed.history().add_epoch(membership_.epoch());
  CatchUp catch_up(job_, committed);
  for (const std::uint64_t round : {4u, 5u}) publish(round, committed);
  AgentSession& session = add_agent("b", 3);
  session.undecided = {record_of(1).id};
  catch_up.advance(session);
  ASSERT_EQ(session.commit_sent, 4u);
  wire::ReceiptT lacks;
  lacks.id = wire_id_of(record_of(4).id);
  EXPECT_EQ(catch_up.send_missing(session, *Packed(lacks)), 0u);
  ASSERT_EQ(actions<LoadRound>().size(), 1u);
  EXPECT_EQ(actions<LoadRound>()[0].results_of, 0u);
  const Status status(StatusCode::io_error, {.what = "the disk"});
  RoundLoaded answer = {
      .token = actions<LoadRound>()[0].token, .status = status, .round = {}, .epoch = {}};
  EXPECT_EQ(catch_up.loaded(answer), 0u);
  ASSERT_EQ(actions<LoadRound>().size(), 2u);
  EXPECT_EQ(actions<LoadRound>()[1].round, 1u);
  EXPECT_FALSE(actions<LoadRound>()[1].results_of);
  catch_up.loaded({.token = actions<LoadRound>()[1].token, .round = {}, .epoch = {}});
  EXPECT_EQ(offered(session).model_version, 5u);
}

// A commit was sent, its results cannot follow, and the outcome of a round must be read before the
// offer.
TEST_F(CatchUpTest, AnOfferInsteadOfResultsWaitsForTheJournal) {
  AgentSession& session = add_agent("b", 2);
  session.commit_sent = 3;
  session.undecided = {record_of(1).id};
  wire::ReceiptT lacks;
  lacks.id = wire_id_of(record_of(3).id);
  catch_up_.send_missing(session, *Packed(lacks));
  EXPECT_TRUE(sent<wire::TransferOfferT>(session).empty());
  ASSERT_EQ(actions<LoadRound>().size(), 1u);
  catch_up_.loaded({.token = actions<LoadRound>()[0].token, .round = {}, .epoch = {}});
  EXPECT_EQ(offered(session).model_version, 5u);
}

TEST_F(CatchUpTest, AnAgentIsOfferedTheModelWithoutTheAggregate) {
  AgentSession& session = add_agent("b", 2);
  wire::ReceiptT lacks;
  lacks.id = wire_id_of(record_of(3).id);
  EXPECT_EQ(catch_up_.send_missing(session, *Packed(lacks)), 0u);
  EXPECT_EQ(offered(session).model_version, 5u);
}

// --- replicas that differ ---

TEST_F(CatchUpTest, AReplicaThatDivergedIsOfferedTheModel) {
  catch_up_.check_replica(member(0), 5, 50);
  EXPECT_TRUE(member(0).synced);
  catch_up_.check_replica(member(0), 5, 51);
  EXPECT_FALSE(member(0).synced);
  EXPECT_EQ(noted("replica_diverged"), std::vector<std::string>{"mismatch"});
  EXPECT_EQ(offered(member(0)).model_version, 5u);
}

TEST_F(CatchUpTest, AReplicaOfAVersionThatIsNotKnownIsNotCompared) {
  catch_up_.check_replica(member(0), 1, 99);
  EXPECT_TRUE(member(0).synced);
}

TEST_F(CatchUpTest, ACommitThatMadeAnotherModelIsADivergedReplica) {
  AgentSession& session = add_agent("b", 4);
  catch_up_.advance(session);
  EXPECT_FALSE(apply(session, 5, 51));
  EXPECT_EQ(session.version, 4u);
  EXPECT_EQ(noted("replica_diverged").size(), 1u);
  EXPECT_EQ(offered(session).model_version, 5u);
}

}  // namespace
}  // namespace tributary
