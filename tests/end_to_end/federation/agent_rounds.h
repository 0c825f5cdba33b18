// The rounds of a job as the coordinator's journal tells them after its end, from the point of view
// of one agent.
#pragma once

#include <cstdint>
#include <string>

namespace tributary::end_to_end {

struct AgentRounds {
  std::uint64_t rounds = 0;
  double seconds = 0;  // from the first plan to the last commit
  // Rounds with a contribution of the agent to every bucket of the result.
  std::uint64_t contributions = 0;
  // Largest number of rounds from one of them to the next one, or to the end.
  std::uint64_t longest_gap = 0;
  std::uint64_t late = 0;             // rounds that name it as late
  std::uint64_t closed_by_grace = 0;  // stages
  // Contributions with a payload whose upload began in an earlier round.
  std::uint64_t continued = 0;

  std::string text() const;
};

// Failures to read the journal are reported as gtest failures.
AgentRounds rounds_of_agent(const std::string& coordinator_journal, std::uint32_t agent);

}  // namespace tributary::end_to_end
