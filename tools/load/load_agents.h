// Many agents in one process: a real connection and session of each, made-up updates, no journal.
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

struct LoadOptions {
  std::string endpoint;
  bool encrypted = true;
  PublicKey coordinator;
  std::vector<KeyPair> keys;  // one for each agent
  std::uint64_t parameters = 0;
  std::uint64_t rounds = 0;
  std::uint32_t threads = 1;
  // The agents keep what is equal once for all of them (shared_replica.h). Off: each is the whole
  // machine that a device runs, with a model, residual and encoder of its own.
  bool share_replica = true;
};

struct LoadReport {
  std::vector<double> round_s;        // from a commit's first arrival to the next's
  double seconds = 0;                 // from the first commit's to the last's
  std::uint64_t agents_finished = 0;  // that have applied every commit
  std::uint64_t agents_lost = 0;      // whose connection or session broke at least once
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  bool replicas_identical = false;
};

// Until every agent has every round. `go_on` is asked now and then, with the rounds that have come
// so far, and an error of it ends everything.
Result<LoadReport> run_load(const LoadOptions& options, const Clock& clock,
                            const std::function<Status(std::uint64_t rounds)>& go_on);

}  // namespace tributary
