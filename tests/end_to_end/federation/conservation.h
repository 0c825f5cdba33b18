// The account of updates of a whole job, from the journals of its processes: what agents have
// trained is in the model, in a residual, or was lost with a killed process.
//
// It holds for every codec with error feedback, while Expectation (journals.h) also predicts the
// model and needs a lossless one. Requires the synthetic trainer, equal weights, no optimizer, and
// that every round needs all agents.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/round/common/machine/records.h"
#include "tests/end_to_end/federation/journals.h"

namespace tributary::end_to_end {

// The final states of all agents, by id.
using AgentStates = std::map<std::string, AgentState>;

struct Conservation {
  // The largest difference over all values. An update that is lost or counted twice changes most
  // values by more than 0.01, because synthetic updates are multiples of 1/64.
  double difference_max = 0;
  double residual_max = 0;        // the largest value of a residual; 0: the codec loses nothing
  std::uint64_t updates = 0;      // that all agents have taken
  std::uint64_t interrupted = 0;  // updates that were lost with their process, in some values
};

// Errors are reported as gtest failures.
Conservation account_of(const RestoredJob& job, const AgentStates& agents, std::uint64_t job_seed,
                        const RoundsTaken& taken, const RoundsInterrupted& interrupted);

}  // namespace tributary::end_to_end
