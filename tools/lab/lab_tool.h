// Runs the system's own tools for networks, ip(8) and tc(8), to their end.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// What the tool printed on standard output. It reads `input`. A tool that fails is an error with
// the tool's own words. A Ctrl-C on the terminal does not reach it: it takes milliseconds.
Result<std::string> run_tool(std::vector<std::string> command, const std::string& input = {});

}  // namespace tributary
