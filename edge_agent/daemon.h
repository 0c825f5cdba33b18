// The agent at work: spoke, state machine, journal, trainer and clock, put together.
#pragma once

#include <functional>
#include <memory>

#include "core/base/clock.h"
#include "core/net/mesh/peer_port.h"
#include "edge_agent/config.h"

namespace tributary {

// How a program gets to peers over MPI, where it can: called once, where the settings say so.
using OpenMpi = std::function<Result<std::unique_ptr<PeerPort>>(const Clock& clock)>;
// Of a program that cannot: an error that says which one can.
Result<std::unique_ptr<PeerPort>> without_mpi(const Clock& clock);

// Until it is told to stop, or the job is done and that was asked for. An error where it could not
// begin or cannot go on.
Status run_agent(const AgentSettings& settings, const OpenMpi& open_mpi);

}  // namespace tributary
