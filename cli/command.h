// A command as data: what it is called, what it takes and what it does. How arguments are taken
// apart is known to command_line.cc alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/progress.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace tributary {

struct Option {
  std::string_view name;        // "--bucket-values"; "SCENARIO" is known by its place
  std::string_view value_name;  // "N"; a flag takes no value and has none
  std::string help;
  // Takes the value of one occurrence, or refuses it; a flag's is empty.
  std::function<Status(const std::string& value)> accept;
  bool required = false;
  bool repeatable = false;
};

struct Answer {
  std::string text;  // for people, whole lines
  std::string data;  // for programs, JSON
  int exit_code = 0;
};

// What a command may use of the world around it.
struct World {
  const Clock& clock;
  Progress& progress;
};

struct Command {
  std::string_view noun;  // "codec"
  std::string_view verb;  // "encode"; a noun that is a command by itself has none
  std::string_view summary;
  std::string_view details;  // behind the options in the help: examples first
  std::vector<Option> options;
  std::function<Result<Answer>(World& world)> run;

  std::string name() const {
    return std::string(noun) + (verb.empty() ? "" : " ") + std::string(verb);
  }
};

// Words that stand before verbs.
struct Noun {
  std::string_view name;
  std::string_view summary;
};

}  // namespace tributary
