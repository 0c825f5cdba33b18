// Runs a coordinator: transport, state machine, journal, planner and clock.
//
// The caller has set up signals (StopSignals::block()) and calls it once per process. The function
// owns all threads of the coordinator and joins them before it returns.
#pragma once

#include "coordinator/config.h"

namespace tributary {

// Blocks until a stop signal arrives, or until all jobs are over if settings.exit_when_done is set.
// Returns an error if the coordinator cannot start or cannot continue.
Status run_coordinator(const CoordinatorSettings& settings);

}  // namespace tributary
