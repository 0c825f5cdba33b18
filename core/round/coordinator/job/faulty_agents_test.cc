// Tests of the search for agents whose contributions make a result not finite: halving the
// suspects, exclusions with back-off, and the end of the job.
#include "core/round/coordinator/job/faulty_agents.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/round/common/machine/records.h"

namespace tributary {
namespace {

using Names = std::vector<std::string>;

Names names_of(std::uint32_t agents) {
  Names names;
  for (std::uint32_t i = 0; i < agents; ++i) names.push_back(fmt::format("agent-{:03}", i));
  return names;
}

class FaultyAgentsTest : public testing::Test {
 protected:
  // The participants of an attempt.
  Names participants(const Names& ready, std::uint64_t round) {
    const Bitmap out = faulty_.left_out(ready, round);
    Names names;
    for (std::uint32_t i = 0; i < ready.size(); ++i) {
      if (!out.test(i)) names.push_back(ready[i]);
    }
    return names;
  }

  // Plays rounds in which the result is not finite if one of `bad` takes part. Counts the attempts
  // that were given up, and stops when all of them are found or the rounds are over.
  struct Played {
    std::uint32_t given_up = 0;
    std::uint32_t given_up_in_a_round_max = 0;
    Names found;
    bool ended = false;
  };
  Played play(const Names& ready, const std::set<std::string>& bad, std::uint64_t rounds) {
    Played played;
    for (std::uint64_t round = 1; round <= rounds && !played.ended; ++round) {
      for (std::uint32_t attempt = 0; !played.ended; ++attempt) {
        const Names present = participants(ready, round);
        const bool fails = std::ranges::any_of(
            present, [&](const std::string& name) { return bad.contains(name); });
        if (!fails) {
          faulty_.committed(round, present, present);
          break;
        }
        ++played.given_up;
        played.given_up_in_a_round_max = std::max(played.given_up_in_a_round_max, attempt + 1);
        if (const auto name = faulty_.search(present)) {
          played.found.push_back(*name);
          faulty_.found(*name, round);
        }
        played.ended = faulty_.gave_up(round, ready);
      }
    }
    return played;
  }

  FaultyAgents faulty_;
};

TEST_F(FaultyAgentsTest, AFaultExcludesFromTheRestOfTheRound) {
  const Names ready = names_of(3);
  EXPECT_EQ(faulty_.found(ready[1], 5), 6u);
  EXPECT_EQ(participants(ready, 5), (Names{ready[0], ready[2]}));
  EXPECT_EQ(participants(ready, 6), ready);
}

TEST_F(FaultyAgentsTest, ARepeatedFaultExcludesForLongerUpToABound) {
  std::uint64_t round = 1;
  std::vector<std::uint64_t> pauses;
  for (int i = 0; i < 9; ++i) {
    const std::uint64_t next = faulty_.found("a", round);
    EXPECT_EQ(faulty_.found("a", round), next) << "the same fault, seen twice";
    pauses.push_back(next - round);
    round = next;
  }
  EXPECT_EQ(pauses, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64, 64, 64}));
}

TEST_F(FaultyAgentsTest, ACommittedContributionEndsTheBackOff) {
  const Names a = {"a"};
  EXPECT_EQ(faulty_.found("a", 1), 2u);
  faulty_.committed(1, a, a);  // another bucket of the same round
  EXPECT_EQ(faulty_.found("a", 2), 4u);
  faulty_.committed(4, a, a);
  EXPECT_EQ(faulty_.found("a", 5), 6u);
}

// Every round is committed without the agent while it is excluded, and it is at fault whenever it
// takes part. A process that replays the rounds decides as the one that has seen the faults.
TEST_F(FaultyAgentsTest, AReplayKeepsExclusionsAndTheirBackOff) {
  const Names ready = names_of(3);
  std::vector<std::map<std::string, std::uint64_t>> rounds;  // of a journal, from round 1
  std::vector<std::uint64_t> faults;
  for (std::uint64_t round = 1; round <= 300; ++round) {
    if (!faulty_.excluded(ready[1], round)) {
      faults.push_back(round);
      faulty_.found(ready[1], round);
    }
    rounds.push_back(faulty_.rounds_left(round));
    const Names present = participants(ready, round);
    faulty_.committed(round, present, present);

    FaultyAgents restored;
    for (std::uint64_t i = round - std::min(round, kFactsRestored); i < round; ++i) {
      restored.replay(i + 1, rounds[i]);
    }
    ASSERT_EQ(restored.rounds_left(round + 1), faulty_.rounds_left(round + 1)) << round;
    // The pause is the same, too: the next fault doubles it.
    const std::uint64_t next = round + 1 + faulty_.rounds_left(round + 1)[ready[1]];
    FaultyAgents goes_on = faulty_;
    ASSERT_EQ(restored.found(ready[1], next), goes_on.found(ready[1], next)) << round;
  }
  EXPECT_EQ(faults, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64, 128, 192, 256}));
}

TEST_F(FaultyAgentsTest, AReplayForgetsAnAgentThatTookPartAgain) {
  faulty_.replay(5, {{"a", 8}, {"b", 1}});
  faulty_.replay(6, {{"a", 7}});
  EXPECT_EQ(faulty_.found("b", 7), 8u);
  EXPECT_TRUE(faulty_.excluded("a", 12));
  EXPECT_FALSE(faulty_.excluded("a", 13));
}

TEST_F(FaultyAgentsTest, AReplayOfOtherNumbersExcludesForABoundedTime) {
  // An earlier version counted 1 for each round.
  faulty_.replay(5, {{"a", 1}});
  faulty_.replay(6, {{"a", 1}});
  EXPECT_FALSE(faulty_.excluded("a", 7));
  faulty_.replay(7, {{"a", UINT64_MAX}});
  EXPECT_EQ(faulty_.rounds_left(8)["a"], 63u);
}

TEST_F(FaultyAgentsTest, OneAgentIsFoundInLogarithmicallyManyAttempts) {
  for (const std::uint32_t agents : {2u, 3u, 4u, 8u, 31u, 64u, 256u}) {
    const Names ready = names_of(agents);
    for (const std::uint32_t bad : {0u, agents / 2, agents - 1}) {
      faulty_ = {};
      const Played played = play(ready, {ready[bad]}, 40);
      const auto steps = static_cast<std::uint32_t>(std::bit_width(agents - 1));
      ASSERT_FALSE(played.found.empty()) << bad << " of " << agents;
      EXPECT_EQ(std::set(played.found.begin(), played.found.end()),
                std::set<std::string>{ready[bad]});
      EXPECT_LE(played.given_up_in_a_round_max, steps + 1) << bad << " of " << agents;
      EXPECT_FALSE(played.ended);
    }
  }
}

TEST_F(FaultyAgentsTest, SeveralAgentsAreFoundOneAfterTheOther) {
  const Names ready = names_of(16);
  const std::set<std::string> bad = {ready[2], ready[3], ready[11]};
  const Played played = play(ready, bad, 60);
  EXPECT_EQ(std::set(played.found.begin(), played.found.end()), bad);
  EXPECT_FALSE(played.ended);
}

TEST_F(FaultyAgentsTest, AnAgentWithOneBadUpdateIsNotHeldAgainstAnother) {
  const Names ready = names_of(4);
  EXPECT_FALSE(faulty_.search(ready));
  EXPECT_FALSE(faulty_.gave_up(1, ready));
  for (std::uint64_t round = 1; faulty_.searching(); ++round) {
    ASSERT_LT(round, 5u);
    const Names present = participants(ready, round);
    faulty_.committed(round, present, present);
  }
  EXPECT_EQ(participants(ready, 6), ready);
}

TEST_F(FaultyAgentsTest, ASuspectThatLeavesEndsTheSearch) {
  const Names ready = names_of(4);
  EXPECT_FALSE(faulty_.search(ready));
  const Names rest = {"agent-007", "agent-008"};
  EXPECT_EQ(participants(rest, 1), rest);
  EXPECT_FALSE(faulty_.searching());
}

TEST_F(FaultyAgentsTest, AllTryAgainIfAllAreAtFaultAndThenTheJobEnds) {
  const Names ready = names_of(3);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_EQ(participants(ready, 1), ready) << attempt;
    for (const std::string& name : ready) faulty_.found(name, 1);
    EXPECT_EQ(faulty_.gave_up(1, ready), attempt == 3) << attempt;
  }
}

TEST_F(FaultyAgentsTest, AnAttemptThatEndsForOtherReasonsDoesNotCount) {
  const Names ready = names_of(1);
  faulty_.found(ready[0], 1);
  EXPECT_FALSE(faulty_.gave_up(1, ready));
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(faulty_.gave_up(1, ready));
  // Neither does one of an earlier round.
  faulty_.found(ready[0], 2);
  EXPECT_FALSE(faulty_.gave_up(2, ready));
}

TEST_F(FaultyAgentsTest, TheJobEndsIfEveryResultIsNotFinite) {
  for (const std::uint32_t agents : {1u, 2u, 4u, 64u}) {
    const Names ready = names_of(agents);
    faulty_ = {};
    const Played played = play(ready, std::set(ready.begin(), ready.end()), 3);
    EXPECT_TRUE(played.ended) << agents;
    EXPECT_LE(played.given_up, 4 * (std::bit_width(agents) + 1) + 1) << agents;
  }
}

}  // namespace
}  // namespace tributary
