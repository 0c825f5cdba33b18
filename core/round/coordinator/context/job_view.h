// The summary of a job that the coordinator shows to its host. A copy: it does not change when the
// job does.
#pragma once

#include <cstdint>
#include <string>

#include "schemas/frame.h"

namespace tributary {

struct JobView {
  std::uint64_t job = 0;
  std::string name;
  wire::JobState state = wire::JobState::unspecified;
  std::uint64_t rounds = 0;
  std::uint64_t rounds_committed = 0;  // the number of stored commits
};

}  // namespace tributary
