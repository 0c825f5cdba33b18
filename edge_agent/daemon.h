// Runs an agent: transport, state machine, journal, trainer and clock.
//
// The caller has set up signals (StopSignals::block()) and calls run_agent() once per process. It
// owns all threads of the agent and joins them before it returns.
#pragma once

#include <functional>
#include <memory>

#include "core/base/clock.h"
#include "core/net/mesh/peer_port.h"
#include "edge_agent/config.h"

namespace tributary {

// Opens the transport to peers over MPI. Called once, if the settings select MPI.
using OpenMpi = std::function<Result<std::unique_ptr<PeerPort>>(const Clock& clock)>;
// For a program without MPI: returns an error that names the program with MPI.
Result<std::unique_ptr<PeerPort>> without_mpi(const Clock& clock);

// Blocks until a stop signal arrives, or until the job is over if settings.exit_when_done is set.
// Returns an error if the agent cannot start or cannot continue.
Status run_agent(const AgentSettings& settings, const OpenMpi& open_mpi);

}  // namespace tributary
