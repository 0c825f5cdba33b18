// The planner's measurements on the coordinator's machine. They block the caller and keep one core
// busy; the planner's thread calls them. go_on() is called often; false ends a measurement.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/plan/inputs/device_speeds.h"
#include "core/plan/inputs/inputs.h"

namespace tributary {

// Measures the codecs that a plan may choose (kPlannedCodecs and kInNetworkCodec) for this number
// of agents. Fails with `cancelled`, or with the error of a codec.
Result<std::vector<PlanCodec>> measure_planned_codecs(std::uint32_t agents, const Clock& clock,
                                                      const std::function<bool()>& go_on);

// Measures the speeds of this machine by family of codecs, as agents report theirs.
DeviceSpeeds measure_own_speeds(const Clock& clock, const std::function<bool()>& go_on);

}  // namespace tributary
