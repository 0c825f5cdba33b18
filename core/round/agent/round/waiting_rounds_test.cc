// Tests of rounds whose plan has arrived before they can begin: a bounded number, in order, without
// committed ones.
#include "core/round/agent/round/waiting_rounds.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

// Rounds that wait at an agent; each can begin at once.
class SomeWaitingRounds : public testing::Test {
 protected:
  void SetUp() override { agent_.have_model(); }
  RoundKey add(std::uint64_t round, std::uint32_t attempt = 0) {
    auto made = std::make_unique<AgentRound>(agent_.round_plan(round, {.attempt = attempt}));
    const RoundKey key = made->key();
    waiting_.add(std::move(made));
    return key;
  }
  std::uint64_t first() {
    const auto round = waiting_.take_first([](const RoundPlan&) { return true; });
    return round ? round->key().round : 0;
  }

  round_testing::AgentParts agent_;
  WaitingRounds waiting_;
};

TEST_F(SomeWaitingRounds, ReplaceEarlierAttempts) {
  const RoundKey first = add(2);
  const RoundKey second = add(2, 1);
  EXPECT_EQ(waiting_.find(first), nullptr);
  EXPECT_NE(waiting_.find(second), nullptr);
}

TEST_F(SomeWaitingRounds, KeepTheEarliest) {
  const RoundKey last = add(9);
  for (std::uint64_t round = 2; round < 2 + WaitingRounds::kRoundsMax; ++round) add(round);
  EXPECT_EQ(waiting_.find(last), nullptr);
  EXPECT_EQ(first(), 2u);
}

TEST_F(SomeWaitingRounds, AreTakenInOrderByTheirPlan) {
  add(3);
  add(2);
  const auto odd =
      waiting_.take_first([](const RoundPlan& plan) { return plan.key().round % 2 == 1; });
  ASSERT_NE(odd, nullptr);
  EXPECT_EQ(odd->key().round, 3u);
  EXPECT_EQ(first(), 2u);
  EXPECT_EQ(first(), 0u);
}

TEST_F(SomeWaitingRounds, EndWhenTheyAreCommitted) {
  add(2);
  add(3);
  waiting_.erase_up_to(2);
  EXPECT_EQ(first(), 3u);
}

}  // namespace
}  // namespace tributary
