// Tests of one attempt at a round at the coordinator, by the star and among peers: deadlines, grace
// time, withdrawals, refusals and its end.
#include "core/round/coordinator/attempt/attempt.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/round/coordinator/attempt/attempt_testing.h"

namespace tributary {
namespace {

using round_testing::AttemptTest;
using round_testing::Packed;
using round_testing::part_of;
using round_testing::wire_id_of;

// --- plans ---

TEST_F(AttemptTest, OnlyParticipantsAreSentThePlan) {
  Bitmap participants(3, true);
  participants.clear(1);
  begin(3, participants);
  attempt_->send_plan_to_all();
  EXPECT_EQ(sent<wire::PlanT>(member(0)).size(), 1u);
  EXPECT_TRUE(sent<wire::PlanT>(member(1)).empty());
  EXPECT_EQ(member(2).plan_sent, attempt_->key());
}

TEST_F(AttemptTest, ThePreliminaryDeadlineIsDueFirst) {
  begin(2);
  EXPECT_EQ(attempt_->next_due_ns(),
            coordinator_.now + policy().preliminary_deadline_ms * kNsPerMs);
}

// --- grace time ---

TEST_F(AttemptTest, AStageClosesWhenItsGraceTimeHasPassed) {
  policy().grace_ms = 100;
  policy().grace_factor = 0.5;
  begin(3);
  pass_ms(400);
  send(0);
  send(1);
  EXPECT_FALSE(attempt_->close_complete());
  EXPECT_EQ(attempt_->next_due_ns(), coordinator_.now + 200 * kNsPerMs);
  pass_ms(199);
  EXPECT_FALSE(attempt_->close_overdue());
  pass_ms(1);
  const auto end = attempt_->close_overdue();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
  EXPECT_EQ(noted("agents_late"), std::vector<std::string>{"grace"});
  const wire::RoundMechanismsT& facts = attempt_->round().mechanisms;
  EXPECT_EQ(facts.stages_closed_by_grace, 1u);
  EXPECT_EQ(facts.grace_ms, 200u);
  ASSERT_EQ(facts.late.size(), 1u);
  EXPECT_EQ(facts.late[0]->of, "agent-002");
  attempt_->record_late(membership_.stragglers());
  EXPECT_EQ(membership_.stragglers().missed_stage("agent-002"), 0u);
  EXPECT_FALSE(membership_.stragglers().missed_stage("agent-001"));
}

TEST_F(AttemptTest, ALateMemberIsNotAwaitedAndItsPayloadCounts) {
  open_epoch(3);
  membership_.stragglers().missed("agent-002", 0, false);
  for (const bool arrives : {false, true}) {
    begin_in_epoch(3);
    send(0);
    if (arrives) send(2);
    EXPECT_FALSE(attempt_->close_complete());
    send(1);
    const auto end = attempt_->close_complete();
    ASSERT_TRUE(end && end->finished);
    EXPECT_EQ(bucket().in_result().test(2), arrives);
    attempt_->record_late(membership_.stragglers());
    EXPECT_EQ(membership_.stragglers().missed_stage("agent-002").has_value(), !arrives);
  }
}

TEST_F(AttemptTest, AQuorumThatNeedsALateMemberWaitsForIt) {
  policy().quorum_fraction = 1;
  open_epoch(2);
  membership_.stragglers().missed("agent-001", 0, false);
  begin_in_epoch(2);
  send(0);
  EXPECT_FALSE(attempt_->close_complete());
  send(1);
  EXPECT_TRUE(attempt_->close_complete());
}

// --- parts that are refused ---

TEST_F(AttemptTest, APartThatThePlanHasNoPlaceForIsRefused) {
  begin(2);
  const std::vector<std::pair<std::string, std::function<void(wire::PartT&)>>> wrong = {
      {"bucket", [](wire::PartT& part) { part.bucket = 1; }},
      {"stage", [](wire::PartT& part) { part.stage = 1; }},
      {"segments", [](wire::PartT& part) { part.segments = 2; }},
      {"size of the payload", [](wire::PartT& part) { part.stage_bytes = 1u << 24; }},
      {"size of the part", [](wire::PartT& part) { part.payload_bytes = (1u << 20) + 1; }}};
  for (const auto& [what, change] : wrong) {
    forget_actions();
    EXPECT_FALSE(send(0, {.change = change})) << what;
    EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"mismatch"}) << what;
  }
  EXPECT_FALSE(attempt_->round().members()[0].part_arrived);
  EXPECT_TRUE(send(0));
}

TEST_F(AttemptTest, AMessageOfTheWrongKindIsRefused) {
  begin(2);
  EXPECT_FALSE(send(0, {.sent_as = SentAs::preliminary}));
  EXPECT_FALSE(send(0, {.sent_as = SentAs::result}));
  EXPECT_EQ(noted("frame_refused").size(), 2u);
}

TEST_F(AttemptTest, AnAgentSendsOnlyInItsOwnName) {
  begin(2);
  EXPECT_FALSE(send(0, {.as_member = 1}));
  EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"not_allowed"});
  EXPECT_FALSE(bucket().has(0) || bucket().has(1));
}

TEST_F(AttemptTest, AnAgentThatDoesNotTakePartIsRefused) {
  Bitmap participants(2);
  participants.set(1);
  begin(2, participants);
  const Bytes payload(100, 0);
  EXPECT_FALSE(attempt_->receive_part(member(0), *Packed(part_of(attempt_->key(), 0, 0, payload)),
                                      {}, payload));
  EXPECT_EQ(noted("frame_refused"), std::vector<std::string>{"not_allowed"});
}

// --- numbers that cannot be added ---

TEST_F(AttemptTest, APayloadThatIsNotFiniteIsAFaultOfItsMemberAndTheOthersCount) {
  for (const float value : {NAN, INFINITY, -INFINITY, 3.4e38f}) {
    forget_actions();
    begin(3);
    EXPECT_TRUE(send(0, {.as_member = 0, .value = 1}));
    EXPECT_TRUE(attempt_->round().members()[0].fault.empty());
    EXPECT_TRUE(send(1, {.as_member = 1, .value = value}));
    EXPECT_EQ(noted("payload_refused"), std::vector<std::string>{"not_finite"}) << value;
    EXPECT_NE(attempt_->round().members()[1].fault.find("bucket 0"), std::string::npos);
    attempt_->withdraw(1);
    EXPECT_FALSE(attempt_->close_complete());
    EXPECT_TRUE(send(2, {.as_member = 2, .value = 1}));
    const auto end = attempt_->close_complete();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->finished);
    EXPECT_EQ(bucket().contributors(), 2u);
  }
}

// --- stages ---

TEST_F(AttemptTest, AStageClosesWhenAllHaveSent) {
  begin(2);
  send(0);
  EXPECT_FALSE(attempt_->close_complete());
  EXPECT_TRUE(sent<wire::AggregateT>(member(0)).empty());
  send(1);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const auto aggregates = sent<wire::AggregateT>(member(i));
    ASSERT_EQ(aggregates.size(), 1u);
    EXPECT_EQ(aggregates[0].contributors, 2u);
  }
}

TEST_F(AttemptTest, AMemberThatIsLostOrWithdrawsIsNotWaitedFor) {
  begin(3);
  send(0);
  attempt_->lose(1);
  EXPECT_FALSE(attempt_->close_complete());
  attempt_->withdraw(2);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->finished) << "one of three is less than the quorum";
  EXPECT_EQ(end->reason, wire::AbortReason::no_quorum);
}

TEST_F(AttemptTest, AMemberThatResumesIsWaitedForAgain) {
  begin(2);
  send(0);
  const std::uint64_t before = member(1).conversation.session();
  attempt_->lose(1);
  coordinator_.roster.remove(before);
  AgentSession& again = add_agent("agent-001");
  attempt_->resume(again, *membership_.resume(again, before));
  EXPECT_FALSE(attempt_->close_complete());
  send(1);
  EXPECT_TRUE(attempt_->close_complete());
}

TEST_F(AttemptTest, AtTheDeadlineItClosesWithThoseThatHaveSent) {
  begin(3);
  send(0);
  send(2);
  pass_ms(policy().deadline_ms - 1);
  EXPECT_FALSE(attempt_->close_overdue());
  pass_ms(1);
  const auto end = attempt_->close_overdue();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
  EXPECT_EQ(bucket().in_result().bytes(), std::vector<std::uint8_t>{0b101});
}

TEST_F(AttemptTest, AtTheDeadlineItEndsWithoutAResultBelowTheQuorum) {
  begin(3);
  send(0);
  pass_ms(policy().deadline_ms);
  const auto end = attempt_->close_overdue();
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->finished);
  EXPECT_EQ(end->reason, wire::AbortReason::no_quorum);
}

TEST_F(AttemptTest, ThePreliminaryDeadlineClosesOnlyStagesBeforeTheLast) {
  policy().codec = "thc:bits=4";
  begin(2);
  EXPECT_TRUE(send(0, {.sent_as = SentAs::preliminary}));
  pass_ms(policy().preliminary_deadline_ms);
  EXPECT_FALSE(attempt_->close_overdue());
  EXPECT_EQ(bucket().stage(), 1u);
  EXPECT_TRUE(bucket().open());
  EXPECT_TRUE(send(1, {.as_member = 1})) << "a member that missed a stage takes part in the next";
  EXPECT_TRUE(bucket().has(1));
}

TEST_F(AttemptTest, AMemberThatLacksAnAggregateIsSentTheRest) {
  begin(1);
  send(0);
  attempt_->close_complete();
  const std::uint64_t whole = bucket().combined()[0]->size();
  member(0).conversation.bulk().drop({.round = attempt_->key()});
  const std::uint64_t down = attempt_->round().bytes_down;
  forget_actions();
  wire::ReceiptT lacks;
  lacks.id = wire_id_of(attempt_->key());
  lacks.received_bytes = 100;
  attempt_->send_missing(member(0), *Packed(lacks));
  const auto again = sent<wire::AggregateT>(member(0));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].part->offset, 100u);
  EXPECT_EQ(attempt_->round().bytes_down - down, whole - 100);
}

// --- giving up ---

TEST_F(AttemptTest, AnAbortNamesTheAttemptAndTheReason) {
  begin(2);
  attempt_->give_up(wire::AbortReason::no_quorum);
  const auto aborts = sent<wire::AbortT>(member(1));
  ASSERT_EQ(aborts.size(), 1u);
  EXPECT_EQ(key_of(*aborts[0].id), attempt_->key());
  EXPECT_EQ(aborts[0].reason, wire::AbortReason::no_quorum);
}

TEST_F(AttemptTest, GivingUpReturnsTheMembersThatHaveSentNothing) {
  begin(3);
  send(1);
  const Bitmap silent = attempt_->give_up(wire::AbortReason::no_quorum);
  EXPECT_EQ(silent.bytes(), std::vector<std::uint8_t>{0b101});
}

TEST_F(AttemptTest, GivingUpReturnsNoAgentWhereNoneHasSent) {
  begin(3);
  EXPECT_EQ(attempt_->give_up(wire::AbortReason::no_quorum).count(), 0u);
}

}  // namespace
}  // namespace tributary
