// Agents that are far slower than the others, or stopped: they delay no round, and what they train
// still counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "core/round/common/machine/bitmap.h"
#include "core/run/mechanisms.h"
#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

// A round waits for all agents only as long as its grace time, 200 ms.
FederationOptions with_grace(std::uint32_t agents, std::uint64_t rounds) {
  return {.agents = agents,
          .rounds = rounds,
          .parameters = 2'000,
          // A quorum of half of the agents; the first round waits until all have connected.
          .coordinator_settings = {fmt::format("job.agents_min={}", agents / 2),
                                   "job.catch_up_wait_ms=3000", "job.grace_ms=200",
                                   "job.deadline_ms=60000"},
          .agent_settings = {"trainer.train_ms=100"}};
}

struct Rounds {
  double seconds = 0;
  std::uint64_t longest_gap = 0;  // from one contribution of the agent to its next one
  std::uint64_t contributions = 0;
  std::uint64_t late = 0;             // rounds that name it as late
  std::uint64_t closed_by_grace = 0;  // stages
};

// Reads the journal after the end of the job.
Rounds rounds_of(const Federation& federation, std::uint32_t agent) {
  Rounds rounds;
  const Result<CoordinatorState> state = read_coordinator_journal(federation.coordinator_journal());
  Result<std::unique_ptr<RunFile>> file = RunFile::open(federation.coordinator_journal());
  EXPECT_TRUE(state.ok() && file.ok());
  if (!state.ok() || !file.ok() || state->jobs.empty()) return rounds;
  const RestoredJob& job = state->jobs[0];
  std::uint64_t last = 0;
  for (const RoundRecord& round : job.history) {
    rounds.longest_gap = std::max(rounds.longest_gap, round.id.round - last);
    rounds.seconds += static_cast<double>(round.committed_at_ns - round.began_at_ns) / 1e9;
    const bool in = std::ranges::any_of(round.contributor_sets, [&](const auto& set) {
      return Bitmap(set.bits, round.members).test(agent);
    });
    if (in) {
      last = round.id.round;
      ++rounds.contributions;
    }
    const Result<SharedBytes> facts = (*file)->round_mechanisms(job.job.job, round.id.round);
    for (const Mechanism& fact : mechanisms_of_round(facts.ok() ? *facts : nullptr)) {
      if (fact.name == "late" && fact.of == Federation::agent_id(agent)) ++rounds.late;
      if (fact.name == "stages_closed_by_grace") {
        rounds.closed_by_grace += static_cast<std::uint64_t>(fact.value);
      }
    }
  }
  return rounds;
}

TEST(Stragglers, AnAgentThatTrainsTenTimesAsLongDelaysNoRoundAndContributes) {
  constexpr std::uint32_t kSlow = 7;
  constexpr std::uint64_t kRounds = 50;
  Federation federation(with_grace(8, kRounds));
  federation.set_for_agent(kSlow, "trainer.train_ms=1000");
  federation.start_all();
  federation.expect_everybody_ends();
  federation.expect_sound();
  const Rounds rounds = rounds_of(federation, kSlow);
  fmt::print("{} rounds in {:.2f} s, {} contributions, at most {} rounds apart\n", kRounds,
             rounds.seconds, rounds.contributions, rounds.longest_gap);
  EXPECT_LT(rounds.seconds, kRounds * 1.0 / 2) << "half of the time in which all wait for it";
  EXPECT_LE(rounds.longest_gap, 12u);
  EXPECT_LT(rounds.contributions, kRounds / 2);
  EXPECT_GE(rounds.late, kRounds / 2);
  EXPECT_GE(rounds.closed_by_grace, 1u);
  EXPECT_FALSE(federation.coordinator().lines_with({"agents_late", "agent-7"}).empty());
}

TEST(Stragglers, AStoppedAgentDelaysOneRoundAndReturns) {
  FederationOptions options = with_grace(3, 200);
  // No round waits for the stopped agent to catch up.
  options.coordinator_settings = {"job.agents_min=1", "job.grace_ms=200", "job.deadline_ms=60000"};
  options.coordinator_settings.emplace_back("heartbeat.timeout_ms=60000");
  options.agent_settings = {"trainer.train_ms=20"};
  Federation federation(options);
  federation.start_all();
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "contributors=3"}, 5));
  federation.agent(2).signal(SIGSTOP);
  // Its session stays open, so only the grace time can end the round.
  ASSERT_TRUE(federation.coordinator().logs({"agents_late", "agent-2"}));
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "contributors=2"}, 20));
  const std::size_t before =
      federation.coordinator().lines_with({"round committed", "contributors=3"}).size();
  federation.agent(2).signal(SIGCONT);
  EXPECT_TRUE(federation.coordinator().logs({"round committed", "contributors=3"}, before + 20));
  federation.expect_everybody_ends();
  federation.expect_sound();
}

// An update of 80 kB takes 0.1 s over the uplinks of the others and 1 s over that of the slow
// agent.
TEST(Stragglers, AnUplinkOfATenthDelaysNoRoundAndContributes) {
  constexpr std::uint32_t kSlow = 3;
  constexpr std::uint64_t kRounds = 40;
  FederationOptions options = with_grace(4, kRounds);
  options.parameters = 20'000;
  options.agent_settings = {"link.shape_burst_bytes=0"};
  Federation federation(options);
  for (std::uint32_t i = 0; i < 4; ++i) {
    federation.set_for_agent(
        i, fmt::format("link.shape_bytes_per_s={}", i == kSlow ? 80'000 : 800'000));
  }
  federation.start_all();
  federation.expect_everybody_ends();
  // A continued payload lacks the updates that were trained since, so the sums are not those of
  // expect_sound(). The agents' own accounts say that nothing is lost.
  federation.expect_identical();
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(federation.agent(i).lines_with({"conservation violated"}).empty());
  }
  const Rounds rounds = rounds_of(federation, kSlow);
  fmt::print("{} rounds in {:.2f} s, {} contributions, at most {} rounds apart\n", kRounds,
             rounds.seconds, rounds.contributions, rounds.longest_gap);
  EXPECT_LT(rounds.seconds, kRounds * 1.0 / 2) << "half of the time in which all wait for it";
  EXPECT_LE(rounds.longest_gap, 12u);
  EXPECT_GE(rounds.late, kRounds / 2);
}

}  // namespace
}  // namespace tributary::end_to_end
