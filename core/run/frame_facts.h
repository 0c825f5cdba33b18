// Derives facts from single frames of a journal, for all readers of a run: the follower, the
// details of one round, and reports.
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

// Fields are empty or 0 if the definition cannot be read or does not state them.
struct JobDefinition {
  std::string name = {};
  std::string model = {};
  std::uint64_t rounds_configured = 0;
  std::uint64_t parameters = 0;  // values of the layer map
};

JobDefinition job_definition(const SharedBytes& frame);
std::uint64_t parameters_of(const wire::Job& job);

// Returns the number of values in the buckets of each exchange, in the order of the plan's
// exchanges.
std::vector<std::uint64_t> exchange_values(const wire::Plan& plan);

// Returns the ratio of this exchange of the plan: the share of the values that is kept. The planner
// leaves the exchange's ratio at 1 if the codec's spec contains it; then the chosen alternative
// states it.
double planned_ratio(const wire::Plan& plan, const wire::Exchange& exchange);

}  // namespace tributary
