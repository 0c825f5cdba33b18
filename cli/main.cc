#include "cli/commands.h"
#include "cli/process/process.h"
#include "cli/process/tools.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  // A tool replaces this process and sets up its own signals.
  if (const auto call = tributary::tool_call(args)) {
    return tributary::fail_program(tributary::exec_tool(*call), args);
  }
  // Before any command runs, so that no file gets the number of a standard stream.
  tributary::set_up_process();
  return tributary::run_program(tributary::all_nouns(), tributary::all_commands(), args);
}
