// The program tributary-lab: nodes with slow links on this machine. `tributary lab` starts it.
#include <array>
#include <string>
#include <vector>

#include "cli/process/process.h"
#include "cli/program.h"
#include "tools/lab/lab_commands.h"

int main(int argc, char** argv) {
  using namespace tributary;
  set_up_process();
  constexpr auto kNouns =
      std::to_array<Noun>({{"lab", "create nodes with slow links on this machine, for any program",
                            "examples:\n"
                            "  tributary lab up --nodes 4 --rate 100mbit --delay 10ms\n"
                            "  tributary lab exec --node 2 -- ping -c 3 node-0\n"
                            "  tributary lab down"}});
  const auto commands =
      std::to_array({lab_up_command(), lab_exec_command(), lab_list_command(), lab_down_command()});
  std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  args.insert(args.begin(), "lab");
  return run_program(kNouns, commands, args);
}
