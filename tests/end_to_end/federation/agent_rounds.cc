#include "tests/end_to_end/federation/agent_rounds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/round/common/machine/bitmap.h"
#include "core/run/mechanisms.h"
#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

bool in_every_bucket(const RoundRecord& round, std::uint32_t agent) {
  return std::ranges::all_of(round.outcomes, [&](const OutcomeRecord& outcome) {
    return Bitmap(round.contributor_sets[outcome.contributor_set].bits, round.members).test(agent);
  });
}

// Whether the agent reports that it sent the rest of an upload that began in an earlier round.
bool continued_an_upload(RunFile& file, const RoundKey& round, std::uint32_t agent) {
  const Result<std::vector<AgentRoundRecord>> reports = file.agent_rounds(round.job, round.round);
  EXPECT_TRUE(reports.ok());
  if (!reports.ok()) return false;
  return std::ranges::any_of(*reports, [&](const AgentRoundRecord& report) {
    return report.agent_id == Federation::agent_id(agent) &&
           std::ranges::any_of(mechanisms_of_agent(report.mechanisms), [](const Mechanism& fact) {
             return fact.name == "uploads_continued" && fact.value > 0;
           });
  });
}

}  // namespace

std::string AgentRounds::text() const {
  return fmt::format(
      "{} rounds in {:.2f} s, {} contributions to all buckets, at most {} rounds "
      "apart, {} of them continued from an earlier round",
      rounds, seconds, contributions, longest_gap, continued);
}

AgentRounds rounds_of_agent(const std::string& coordinator_journal, std::uint32_t agent) {
  AgentRounds all;
  const Result<CoordinatorState> state = read_coordinator_journal(coordinator_journal);
  Result<std::unique_ptr<RunFile>> file = RunFile::open(coordinator_journal);
  EXPECT_TRUE(state.ok() && file.ok());
  if (!state.ok() || !file.ok() || state->jobs.empty()) return all;
  const RestoredJob& job = state->jobs[0];
  std::uint64_t last = 0;
  for (const RoundRecord& round : job.history) {
    ++all.rounds;
    if (round.id.round == 1 && round.members <= agent) last = 1;  // begun without the agent
    all.longest_gap = std::max(all.longest_gap, round.id.round - last);
    // Including the time between two rounds.
    all.seconds =
        static_cast<double>(round.committed_at_ns - job.history.front().began_at_ns) / 1e9;
    if (in_every_bucket(round, agent)) {
      last = round.id.round;
      ++all.contributions;
      if (continued_an_upload(**file, round.id, agent)) ++all.continued;
    }
    const Result<SharedBytes> facts = (*file)->round_mechanisms(job.job.job, round.id.round);
    for (const Mechanism& fact : mechanisms_of_round(facts.ok() ? *facts : nullptr)) {
      if (fact.name == "late" && fact.of == Federation::agent_id(agent)) ++all.late;
      if (fact.name == "stages_closed_by_grace") {
        all.closed_by_grace += static_cast<std::uint64_t>(fact.value);
      }
    }
  }
  return all;
}

}  // namespace tributary::end_to_end
