// Tests of transfers of the whole model: how many run at once, the model that they share, and
// downloads that continue.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/round/coordinator/commit/catch_up_testing.h"

namespace tributary {
namespace {

using round_testing::CatchUpTest;
using round_testing::kSmallJob;
using round_testing::Packed;

constexpr std::size_t kTransfersAtOnce = 32;

TEST_F(CatchUpTest, AFinishedTransferMakesAnAgentReadyAndCounts) {
  AgentSession& session = add_agent_without_model("b");
  session.undecided = {record_of(3).id};
  catch_up_.advance(session);
  EXPECT_FALSE(session.ready(kSmallJob, 5));
  take_transfer(session);
  EXPECT_TRUE(session.ready(kSmallJob, 5));
  EXPECT_EQ(session.generation, 1u);
  EXPECT_TRUE(session.undecided.empty());
}

TEST_F(CatchUpTest, TheAnswerToAnotherOfferDoesNotFinishTheTransfer) {
  AgentSession& session = add_agent_without_model("b");
  catch_up_.advance(session);
  catch_up_.answered(session, {.kind = wire::Message::TransferOffer, .tag = session.transfer + 1});
  EXPECT_NE(session.transfer, 0u);
  EXPECT_FALSE(session.synced);
}

TEST_F(CatchUpTest, OnlySoManyTransfersAreUnderWayAndTheNextBeginsWhenOneEnds) {
  for (std::size_t i = 0; i < kTransfersAtOnce + 2; ++i) {
    add_agent_without_model(fmt::format("new-{:02}", i));
  }
  catch_up_.advance_all();
  AgentSession& first = *coordinator_.roster.by_agent("new-00");
  AgentSession& last_at_once = *coordinator_.roster.by_agent("new-31");
  AgentSession& waits = *coordinator_.roster.by_agent("new-32");
  EXPECT_NE(last_at_once.transfer, 0u);
  EXPECT_EQ(waits.transfer, 0u);
  catch_up_.offer_to_waiting();
  EXPECT_EQ(waits.transfer, 0u) << "there is no room yet";
  take_transfer(first);
  catch_up_.offer_to_waiting();
  EXPECT_NE(waits.transfer, 0u);
  EXPECT_EQ(coordinator_.roster.by_agent("new-33")->transfer, 0u);
}

TEST_F(CatchUpTest, TransfersThatAreUnderWayShareTheModelTheyBeganWith) {
  AgentSession& first = add_agent_without_model("b");
  catch_up_.advance(first);
  publish(6);
  catch_up_.model_replaced();
  AgentSession& second = add_agent_without_model("c");
  catch_up_.advance(second);
  EXPECT_EQ(offered(second).model_version, 5u) << "the commit of round 6 follows";
  take_transfer(second);
  EXPECT_EQ(sent<wire::CommitT>(second).size(), 1u);
}

TEST_F(CatchUpTest, WithoutTransfersTheNextOneIsOfTheCurrentModel) {
  AgentSession& first = add_agent_without_model("b");
  catch_up_.advance(first);
  take_transfer(first);
  publish(6);
  catch_up_.model_replaced();
  AgentSession& second = add_agent_without_model("c");
  catch_up_.advance(second);
  EXPECT_EQ(offered(second).model_version, 6u);
}

TEST_F(CatchUpTest, ADownloadContinuesFromWhatTheAgentHolds) {
  AgentSession& before = add_agent_without_model("b");
  catch_up_.advance(before);
  const std::uint64_t hash = offered(before).hash;
  coordinator_.roster.remove(before.conversation.session());

  AgentSession& again = add_agent_without_model("b");
  again.holdings = {holding(1, 10)};
  again.holdings[0].download_hash = hash;
  again.holdings[0].download_bytes = 100;
  catch_up_.advance(again);
  EXPECT_EQ(offered(again).from, 100u);
  ASSERT_EQ(sent<wire::TransferPartT>(again).size(), 1u);
  EXPECT_EQ(sent<wire::TransferPartT>(again)[0].offset, 100u);
}

TEST_F(CatchUpTest, ADownloadOfAnotherModelBeginsAnew) {
  AgentSession& session = add_agent_without_model("b");
  session.holdings = {holding(1, 10)};
  session.holdings[0].download_hash = 12'345;
  session.holdings[0].download_bytes = 100;
  catch_up_.advance(session);
  EXPECT_EQ(offered(session).from, 0u);
}

TEST_F(CatchUpTest, AfterALostSessionTheModelOfItsDownloadIsKeptForTenMinutes) {
  AgentSession& lost = add_agent_without_model("b");
  catch_up_.advance(lost);
  catch_up_.left(lost);
  coordinator_.roster.remove(lost.conversation.session());
  publish(6);
  catch_up_.model_replaced();
  coordinator_.now += 599'000 * kNsPerMs;
  AgentSession& again = add_agent_without_model("b");
  catch_up_.advance(again);
  EXPECT_EQ(offered(again).model_version, 5u);
  coordinator_.roster.remove(again.conversation.session());
  coordinator_.now += 2'000 * kNsPerMs;
  AgentSession& late = add_agent_without_model("b");
  catch_up_.advance(late);
  EXPECT_EQ(offered(late).model_version, 6u);
}

TEST_F(CatchUpTest, AFetchContinuesTheTransferThatWasOffered) {
  AgentSession& session = add_agent_without_model("b");
  catch_up_.advance(session);
  session.conversation.bulk().drop({.round = {.job = kSmallJob}, .transfer = session.transfer});
  forget_actions();
  wire::TransferFetchT fetch;
  fetch.transfer = session.transfer;
  fetch.from = 200;
  catch_up_.receive_fetch(session, *Packed(fetch));
  ASSERT_EQ(sent<wire::TransferPartT>(session).size(), 1u);
  EXPECT_EQ(sent<wire::TransferPartT>(session)[0].offset, 200u);
}

TEST_F(CatchUpTest, AFetchOfAnotherTransferIsOfferedAnew) {
  AgentSession& session = add_agent_without_model("b");
  catch_up_.advance(session);
  const std::uint64_t before = session.transfer;
  forget_actions();
  wire::TransferFetchT fetch;
  fetch.transfer = before + 1;
  catch_up_.receive_fetch(session, *Packed(fetch));
  EXPECT_NE(offered(session).transfer, before);
}

TEST_F(CatchUpTest, AnAgentThatAsksForTheModelIsOfferedAllOfIt) {
  member(0).holdings = {holding(5, 50)};
  wire::TransferRequestT request;
  request.job = kSmallJob;
  request.content = wire::Content::model;
  catch_up_.receive_request(member(0), *Packed(request));
  EXPECT_FALSE(member(0).synced);
  EXPECT_TRUE(member(0).holdings.empty());
  EXPECT_EQ(offered(member(0)).from, 0u);
}

TEST_F(CatchUpTest, ARequestForSomethingElseIsRefused) {
  wire::TransferRequestT request;
  request.job = kSmallJob + 1;
  request.content = wire::Content::model;
  catch_up_.receive_request(member(0), *Packed(request));
  EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"unknown_transfer"});
  EXPECT_TRUE(member(0).synced);
}

TEST_F(CatchUpTest, AnOfferThatOvertookItsJobIsMadeAgain) {
  AgentSession& session = add_new_agent("b");
  catch_up_.begin(session);
  const Conversation::Asked offer = {.kind = wire::Message::TransferOffer, .tag = session.transfer};
  catch_up_.answered(session, {.kind = wire::Message::Job, .tag = kSmallJob});
  forget_actions();
  catch_up_.refused(session, offer);
  EXPECT_EQ(offered(session).model_version, 5u);
  forget_actions();
  catch_up_.refused(session, {.kind = wire::Message::TransferOffer, .tag = session.transfer});
  EXPECT_TRUE(sent<wire::TransferOfferT>(session).empty()) << "only once";
}

TEST_F(CatchUpTest, AnOfferWaitsForTheJournal) {
  AgentSession& session = add_agent_without_model("b");
  session.undecided = {record_of(1).id};
  catch_up_.advance(session);
  EXPECT_TRUE(sent<wire::TransferOfferT>(session).empty());
  ASSERT_EQ(actions<LoadRound>().size(), 1u);
  catch_up_.loaded({.token = actions<LoadRound>()[0].token, .round = {}, .epoch = {}});
  EXPECT_EQ(offered(session).model_version, 5u);
}

}  // namespace
}  // namespace tributary
