// Runs programs that are installed beside this one as if they were commands: `tributary lab up`
// runs `tributary-lab up`. These tools are for development and measurement, and their dependencies
// do not belong in the operator's program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// A tool, and its arguments without the word that names it.
struct ToolCall {
  std::string program;  // "tributary-lab"
  std::vector<std::string> args;
};

// Empty if the first word of `args` does not name a tool.
std::optional<ToolCall> tool_call(const std::vector<std::string>& args);

// Replaces this process by the tool, so that the caller receives its exit code and signals. Returns
// only on failure; not_found: the tool is not installed.
Status exec_tool(const ToolCall& call);

}  // namespace tributary
