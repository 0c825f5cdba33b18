// Describes a command as data: its name, its options and the function that runs it. Only
// command_line.cc knows how arguments are parsed.
//
// Texts in the views must outlive the Command; in practice they are literals.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/progress.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace tributary {

// One option, or one positional argument.
struct Option {
  std::string_view name;  // "--bucket-values"; a name without dashes is positional: "SCENARIO"
  std::string_view value_name;  // "N"; empty for a flag
  std::string help;
  // Stores or rejects the value of one occurrence. A flag passes an empty value.
  std::function<Status(const std::string& value)> accept;
  bool required = false;
  bool repeatable = false;
};

// The result of a command. It always has both forms; the program prints one of them.
struct Answer {
  std::string text;  // for people; complete lines
  std::string data;  // for programs; JSON
  int exit_code = 0;
};

// The parts of the environment that a command may use. Tests replace them.
struct World {
  const Clock& clock;
  Progress& progress;
};

// One command of the operator. `options` and `run` share the parsed values, so both must be kept
// together.
struct Command {
  std::string_view noun;  // "encode"; empty if the noun is itself a command
  std::string_view verb;  // "encode"; a noun that is a command by itself has none
  std::string_view summary;
  std::string_view details;  // printed after the options in the help; ends with the examples
  std::vector<Option> options;
  // Called at most once, after all options were accepted.
  std::function<Result<Answer>(World& world)> run;

  std::string name() const {
    return std::string(noun) + (verb.empty() ? "" : " ") + std::string(verb);
  }
};

// The first word of commands that consist of two words.
struct Noun {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;  // printed at the end of the help: "examples:\n  tributary ..."
};

}  // namespace tributary
