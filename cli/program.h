// The complete program except main(): from arguments to an exit code.
//
// The functions write only complete answers: text, or one JSON object with --json. The exit codes
// are those of core/base/exit_codes.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace tributary {

// Runs one command. Answers are printed on standard output and errors on standard error; with
// --json both on standard output. Returns the exit code and does not throw.
int run_program(std::span<const Noun> nouns, std::span<const Command> commands,
                const std::vector<std::string>& args);

// Prints an error that occurred before a command was chosen, in the same format as run_program().
// Returns the exit code.
int fail_program(const Status& status, const std::vector<std::string>& args);

}  // namespace tributary
