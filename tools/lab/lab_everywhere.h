// Runs one command in all nodes of a lab at once.
//
// The lab must be up. One call at a time per process, because stop signals belong to the process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// The command line that runs `command` in a node, with the node's environment variables. As in a
// shell, exit code 127 means that the program was not found, and 126 that it cannot be executed.
std::vector<std::string> lab_command(const std::string& lab, std::uint32_t node,
                                     std::uint32_t nodes, const std::vector<std::string>& command);

// Exit codes of the programs in all nodes.
struct EverywhereOutcome {
  int exit_code = 0;            // exit code of the first program that failed
  int first_to_fail = -1;       // node of that program; -1: none
  std::vector<int> exit_codes;  // one per node; 128 plus the signal that ended the program
};

// Returns when all programs have ended. If one fails, or this program receives a stop signal, the
// others receive SIGTERM or that signal, and SIGKILL some seconds later. After a stop signal the
// result is `cancelled`.
Result<EverywhereOutcome> run_in_every_node(const std::string& lab, std::uint32_t nodes,
                                            const std::vector<std::string>& command);

}  // namespace tributary
