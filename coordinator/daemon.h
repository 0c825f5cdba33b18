// The coordinator at work: hub, state machine, journal and clock, put together.
#pragma once

#include "coordinator/config.h"

namespace tributary {

// Until it is told to stop, or the job is done and that was asked for. An error where it could not
// begin or cannot go on.
Status run_coordinator(const CoordinatorSettings& settings);

}  // namespace tributary
