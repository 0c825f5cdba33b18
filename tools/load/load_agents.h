// Runs many agents in one process: each has a real connection and session, with synthetic updates
// and without a journal.
//
// What the coordinator sees is the same as from separate processes: one connection, session and
// update per agent. Only memory and computing are shared, so that thousands of agents fit on one
// machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/keys/keys.h"

namespace tributary {

// The load: the coordinator to connect to, the agents and the model.
struct LoadOptions {
  std::string endpoint;
  bool encrypted = true;
  PublicKey coordinator;
  std::vector<KeyPair> keys;  // one per agent
  std::uint64_t parameters = 0;
  std::uint64_t rounds = 0;
  std::uint32_t threads = 1;
  // Whether the agents share their equal values (shared_replica.h). If not, each is a complete
  // production agent with its own model, residual and encoder.
  bool share_replica = true;
};

// The measured result of a run.
struct LoadReport {
  std::vector<double> round_s;        // time between the first arrivals of consecutive commits
  double seconds = 0;                 // from the first commit to the last
  std::uint64_t agents_finished = 0;  // that have applied every commit
  std::uint64_t agents_lost = 0;      // whose connection or session broke at least once
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  bool replicas_identical = false;
};

// Runs until every agent has every round. Calls `go_on` periodically with the number of rounds so
// far; an error from it ends the run and is returned. Blocks; uses options.threads threads.
Result<LoadReport> run_load(const LoadOptions& options, const Clock& clock,
                            const std::function<Status(std::uint64_t rounds)>& go_on);

}  // namespace tributary
