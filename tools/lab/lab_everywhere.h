// One command in every node of a lab at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// The words that run `command` in a node, with what it is told in its environment. A program that
// cannot be found ends with 127, one that cannot be run with 126, as in a shell.
std::vector<std::string> lab_command(const std::string& lab, std::uint32_t node,
                                     std::uint32_t nodes, const std::vector<std::string>& command);

struct EverywhereOutcome {
  int exit_code = 0;            // of the first that failed
  int first_to_fail = -1;       // its node
  std::vector<int> exit_codes;  // of each; 128 and the signal that ended it
};

// Ends when all have ended. When one fails, or this program is asked to stop, the others are asked
// to stop, too, and soon after made to.
Result<EverywhereOutcome> run_in_every_node(const std::string& lab, std::uint32_t nodes,
                                            const std::vector<std::string>& command);

}  // namespace tributary
