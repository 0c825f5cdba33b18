// Runs the system's network tools, ip(8), bridge(8) and tc(8), and waits for their end.
//
// Blocks; one thread at a time.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// Runs the command with `input` as its standard input and returns its standard output. Fails with
// not_found (no such program) or io_error (with the tool's own message). Ctrl-C on the terminal
// does not reach the tool, which takes only milliseconds.
Result<std::string> run_tool(std::vector<std::string> command, const std::string& input = {});

}  // namespace tributary
