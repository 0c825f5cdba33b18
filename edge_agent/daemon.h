// The agent at work: spoke, state machine, journal, trainer and clock, put together.
#pragma once

#include "edge_agent/config.h"

namespace tributary {

// Until it is told to stop, or the job is done and that was asked for. An error where it could not
// begin or cannot go on.
Status run_agent(const AgentSettings& settings);

}  // namespace tributary
