// The agent's main(), for each program that is one: they differ in what they go by to their peers.
#pragma once

#include <string>

#include "edge_agent/daemon.h"

namespace tributary {

// Signals must be blocked before.
int agent_main(const std::string& program, int argc, char** argv, const OpenMpi& open_mpi);

}  // namespace tributary
