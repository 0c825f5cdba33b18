// Parses the arguments into a command whose options are set. No other file includes CLI11.
//
// The commands own their targets and must outlive the result, which points to one of them. A second
// call would write into the same targets, so each command line needs new commands (all_commands()).
// One thread; no output and no exit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "core/base/status.h"

namespace tributary {

// The result of parsing: a command to run, or a text to print.
struct CommandLine {
  const Command* command = nullptr;  // null if only `text` was requested: help or version
  std::string text;
  bool json = false;
};

// Parses the arguments, which do not include the program's name. Calls `accept` of each option,
// which writes to the command's targets. Every error is a usage error, whatever its code.
Result<CommandLine> parse_command_line(std::span<const Noun> nouns,
                                       std::span<const Command> commands,
                                       const std::vector<std::string>& args);

// Whether an error in these arguments must be printed as JSON too. Works on arguments that do not
// parse.
bool asks_for_json(const std::vector<std::string>& args);

}  // namespace tributary
