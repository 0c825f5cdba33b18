// What follows from the frames of a journal alone, once for every reading of a run: that of a
// follower, that of one round in detail, and that of a report.
//
// The functions are pure. They take frames as a file has them, so any part of a frame may be
// missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/round/common/machine/records.h"
#include "schemas/frame_generated.h"

namespace tributary {

// Empty and 0 where the definition cannot be read, or does not say.
struct JobDefinition {
  std::string name = {};
  std::string model = {};
  std::uint64_t rounds_wanted = 0;
  std::uint64_t parameters = 0;  // values of the layer map
};

JobDefinition job_definition(const SharedBytes& frame);
std::uint64_t parameters_of(const wire::Job& job);

// The values of the buckets that each exchange of the plan has, in the order of the exchanges.
std::vector<std::uint64_t> exchange_values(const wire::Plan& plan);

}  // namespace tributary
