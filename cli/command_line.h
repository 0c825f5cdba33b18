// From arguments to a command whose options are set, by CLI11, which no other file includes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "core/base/status.h"

namespace tributary {

struct CommandLine {
  const Command* command = nullptr;  // none where only `text` was asked for: help, version
  std::string text;
  bool json = false;
};

// An error is one of usage, whatever its code.
Result<CommandLine> parse_command_line(std::span<const Noun> nouns,
                                       std::span<const Command> commands,
                                       const std::vector<std::string>& args);

// Whether an error in these arguments, too, shall be told as JSON.
bool asks_for_json(const std::vector<std::string>& args);

}  // namespace tributary
