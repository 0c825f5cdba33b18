// tributary-load: runs many agents in one process against a coordinator. `tributary load` starts
// it.
#include <array>
#include <string>
#include <vector>

#include "cli/process/process.h"
#include "cli/program.h"
#include "tools/load/load_command.h"

int main(int argc, char** argv) {
  using namespace tributary;
  set_up_process();
  const auto commands = std::to_array({load_command()});
  std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  args.insert(args.begin(), "load");
  return run_program({}, commands, args);
}
