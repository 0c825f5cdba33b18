// Tests of the results that members report: an attempt among peers or in the network ends when they
// agree.
#include "core/round/coordinator/attempt/results/reported_results.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/round/coordinator/attempt/attempt_testing.h"

namespace tributary {
namespace {

using round_testing::AttemptTest;
using round_testing::Packed;

// --- by peers ---

// The same in an exchange among peers.
class PeerAttemptTest : public AttemptTest {
 protected:
  PeerAttemptTest() { policy().collective = wire::Collective::ring; }
  void agree(std::uint32_t index) {
    attempt_->results().add(index, attempt_->round().results_hash());
  }
};

TEST_F(PeerAttemptTest, ItEndsWhenAllHaveReportedTheResultThatWasSent) {
  begin(2);
  send_result();
  agree(0);
  EXPECT_FALSE(attempt_->close_complete());
  agree(1);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
}

TEST_F(PeerAttemptTest, ItDoesNotEndBeforeTheResultIsThere) {
  begin(2);
  attempt_->results().add(0, 5);
  attempt_->results().add(1, 5);
  EXPECT_FALSE(attempt_->close_complete());
}

TEST_F(PeerAttemptTest, ADifferentResultEndsItWithAMismatch) {
  begin(2);
  send_result();
  agree(0);
  attempt_->results().add(1, attempt_->round().results_hash() ^ 1);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->finished);
  EXPECT_EQ(end->reason, wire::AbortReason::mismatch);
  EXPECT_EQ(noted("results_differ").size(), 1u);
}

TEST_F(PeerAttemptTest, AMemberThatWithdrawsEndsIt) {
  begin(2);
  attempt_->withdraw(1);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, wire::AbortReason::collective_failed);
}

TEST_F(PeerAttemptTest, OnlyAMemberThatHasSentEverythingMayGo) {
  begin(3);
  send_result();
  agree(0);
  attempt_->lose(0);
  EXPECT_FALSE(attempt_->close_complete());
  attempt_->lose(1);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, wire::AbortReason::collective_failed);
}

TEST_F(PeerAttemptTest, AtTheDeadlineItEndsAndNamesThoseWithoutAResult) {
  begin(2);
  send_result();
  agree(0);
  EXPECT_EQ(attempt_->next_due_ns(), coordinator_.now + policy().deadline_ms * kNsPerMs);
  pass_ms(policy().deadline_ms);
  const auto end = attempt_->close_overdue();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, wire::AbortReason::deadline);
  ASSERT_EQ(actions<Note>().size(), 1u);
  EXPECT_EQ(actions<Note>()[0].text, "no result from agent-001");
}

// --- in the network ---

// An attempt whose last stage an aggregator in the network adds.
class NetworkAttemptTest : public AttemptTest {
 protected:
  NetworkAttemptTest() {
    policy().collective = wire::Collective::in_network;
    policy().codec = "thc";
  }
  bool send_norms(std::uint32_t index) {
    return send(index, {.sent_as = SentAs::preliminary, .as_member = index});
  }
  // All members have sent their norms, and the uploader has sent the result.
  void begin_with_result(std::uint32_t agents) {
    begin(agents);
    for (std::uint32_t i = 0; i < agents; ++i) EXPECT_TRUE(send_norms(i));
    EXPECT_FALSE(attempt_->close_complete());
    send_result();
  }
  void agree(std::uint32_t index, std::uint64_t sent, std::uint64_t got) {
    wire::SumsCheckT sums;
    sums.sent = sent;
    sums.got = got;
    attempt_->results().add(index, attempt_->round().results_hash(), &*Packed(sums));
  }
};

TEST_F(NetworkAttemptTest, TheCoordinatorCombinesTheStageBefore) {
  begin(2);
  EXPECT_TRUE(send_norms(0));
  EXPECT_FALSE(attempt_->close_complete());
  EXPECT_EQ(bucket().stage(), 0u);
  EXPECT_TRUE(send_norms(1));
  EXPECT_FALSE(attempt_->close_complete());
  EXPECT_EQ(bucket().stage(), 1u);
  EXPECT_EQ(sent<wire::AggregateT>(member(0)).size(), 1u);
  EXPECT_EQ(sent<wire::AggregateT>(member(1)).size(), 1u);
}

TEST_F(NetworkAttemptTest, LevelsDoNotGoByTheCoordinator) {
  begin(2);
  send_norms(0);
  send_norms(1);
  attempt_->close_complete();
  EXPECT_FALSE(send(0, {.sent_as = SentAs::update, .as_member = 0}));
  const std::uint32_t other = 1 - attempt_->round().plan().uploader(0);
  EXPECT_FALSE(send(other, {.sent_as = SentAs::result, .as_member = other}));
  EXPECT_EQ(noted("frame_refused").size(), 2u);
}

TEST_F(NetworkAttemptTest, ItEndsWhenTheSumsAreThoseOfTheContributions) {
  begin_with_result(3);
  agree(0, 5, 18);
  agree(1, 6, 18);
  EXPECT_FALSE(attempt_->close_complete());
  agree(2, 7, 18);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
}

TEST_F(NetworkAttemptTest, OtherSumsEndItWithAMismatch) {
  for (const std::uint64_t got : {17u, 19u, 18u ^ 0x80000000u}) {
    forget_actions();
    begin_with_result(2);
    agree(0, 10, got);
    agree(1, 8, got);
    const auto end = attempt_->close_complete();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->reason, wire::AbortReason::mismatch) << got;
    EXPECT_EQ(noted("sums_refused"), std::vector<std::string>{"mismatch"});
  }
}

TEST_F(NetworkAttemptTest, AReportWithoutCombinationsIsAMismatch) {
  begin_with_result(2);
  agree(0, 10, 10);
  attempt_->results().add(1, attempt_->round().results_hash());
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, wire::AbortReason::mismatch);
}

TEST_F(NetworkAttemptTest, AMemberThatWithdrawsEndsItBeforeAStageClosesWithoutIt) {
  begin(2);
  send_norms(0);
  attempt_->withdraw(1);
  const auto end = attempt_->close_complete();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, wire::AbortReason::collective_failed);
  EXPECT_EQ(bucket().stage(), 0u);
}

}  // namespace
}  // namespace tributary
