// Runs many seeds of one scenario on several threads, and some seeds twice to check that runs
// repeat exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/sim/scenario/scenario.h"
#include "core/sim/simulation.h"

namespace tributary {

struct RunsRequest {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
  std::size_t threads = 1;
  // One in this many seeds runs twice and must end in the same state; 0: none.
  std::uint64_t repeat_every = 16;
  Mutation mutation = Mutation::none;
  bool stop_at_violation = false;
  // Receives the number of finished rounds of all seeds; returns false to stop. Called by one
  // thread at a time.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress = {};
};

struct FailedRun {
  std::uint64_t seed = 0;
  Violation violation;  // the first violation
};

// The final state of one seed.
struct RunResult {
  std::uint64_t seed = 0;
  std::uint64_t state_hash = 0;
  std::uint64_t rounds_committed = 0;
  std::uint64_t models_hash = 0;
  std::map<std::string, std::uint64_t> bytes_by_message;
};

struct RunsReport {
  std::uint64_t seeds = 0;     // number of seeds that ran
  std::uint64_t repeated = 0;  // how many of them ran twice
  std::uint64_t violations = 0;
  std::vector<FailedRun> failed;  // in the order of the seeds
  std::uint64_t state_hash = 0;   // of one seed: its hash; otherwise a hash of all, in order
  std::uint64_t rounds_committed = 0;
  std::map<std::string, std::uint64_t> collectives;  // rounds of each
  std::map<std::string, std::uint64_t, std::less<>> faults;
  // The kinds of faults that did not happen in every run, with the number of runs in which they
  // did.
  std::map<std::string, std::uint64_t, std::less<>> faults_missed;
  std::map<std::string, std::uint64_t> notes;
  double virtual_s = 0;
  std::uint64_t events = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  double conservation_error_max = 0;
  ByteBudget::Tally budget;
  double queue_s_max = 0;
  std::vector<RunResult> runs;  // in the order of the seeds
};

// Returns an error only if a run was cancelled; violations are part of the report.
Result<RunsReport> run_seeds(const Scenario& scenario, const RunsRequest& request);

}  // namespace tributary
