// Programs that are installed beside this one and that it runs under a word of its own:
// `tributary lab up` is `tributary-lab up`. They are for those who develop and measure; what they
// bring along is not part of the operator's command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// The arguments of a tool, without the word that names it.
struct ToolCall {
  std::string program;  // "tributary-lab"
  std::vector<std::string> args;
};

// Nothing where the first word of `args` names no tool.
std::optional<ToolCall> tool_call(const std::vector<std::string>& args);

// Replaces this process by the tool, so that its exit code and signals are the caller's. Returns
// only where that fails; not_found: the tool is not installed.
Status exec_tool(const ToolCall& call);

}  // namespace tributary
