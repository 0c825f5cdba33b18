// The main() of an agent program. The programs differ in their transports to peers.
//
// Prints errors on standard error and never throws. Called once, as the last thing that main()
// does.
#pragma once

#include <string>

#include "edge_agent/daemon.h"

namespace tributary {

// The properties of an agent program that its help text shows.
struct AgentProgram {
  std::string name;
  std::string details;   // paragraphs without a final newline
  std::string examples;  // command lines, each indented by two blanks
};

// The caller must have blocked the stop signals before any thread started. Returns the exit code.
int agent_main(const AgentProgram& program, int argc, char** argv, const OpenMpi& open_mpi);

}  // namespace tributary
