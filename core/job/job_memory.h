// Estimates the memory that a job needs at its coordinator and at each of its agents, before it
// starts. docs/architecture.md has the table of who holds which vector when.
//
// An estimate is the sum of everything that is held at the same time at the peak of a round, with
// the process itself; agents need their trainer's memory in addition. It encodes 64 Ki random
// values with each codec of the job, to learn the size of payloads. All functions are pure and
// thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/round/common/machine/events.h"

namespace tributary {

// Limits of the coordinator that bound its memory (CoordinatorConfig).
struct CoordinatorLimits {
  std::uint64_t incoming_bytes_max = 0;
  double redo_models = 1;
  std::uint64_t redo_bytes_in_memory_max = UINT64_MAX;
  std::uint64_t outgoing_bytes_max = 0;
  std::uint32_t payload_bytes_max = 0;
};

// One kind of data that is held, and its size in bytes.
struct Holding {
  std::string_view what;
  std::uint64_t bytes = 0;
};

struct JobMemory {
  std::vector<Holding> coordinator;
  std::vector<Holding> agent;
};

std::uint64_t total_bytes(const std::vector<Holding>& holdings);

// Requires a submission that submission() has made. A planned job is estimated with the codec with
// which it starts. Returns the error of a codec or an optimizer that is not valid.
Result<JobMemory> memory_of(const SubmitJob& job, const CoordinatorLimits& limits);

}  // namespace tributary
