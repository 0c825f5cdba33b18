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

// The exit code for an error before there was a command, which is told as above.
int fail_program(const Status& status, const std::vector<std::string>& args);

}  // namespace tributary
