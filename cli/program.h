// The whole program but for main(): from arguments to an exit code.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace tributary {

// Prints answers on standard output and errors on standard error; with --json both on the former.
int run_program(std::span<const Noun> nouns, std::span<const Command> commands,
                const std::vector<std::string>& args);

// Prints an error that came before any command was chosen, as run_program() does. Returns the exit
// code.
int fail_program(const Status& status, const std::vector<std::string>& args);

}  // namespace tributary
