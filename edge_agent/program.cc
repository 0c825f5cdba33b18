#include "edge_agent/program.h"

#include <iostream>

namespace tributary {

int agent_main(const std::string& program, int argc, char** argv, const OpenMpi& open_mpi) {
  const DaemonAbout about = {
      .program = program,
      .summary = "trains on this device's data and exchanges compressed updates with a coordinator",
      .examples = "  " + program + " --config agent.toml --join garage-01.join\n  " + program +
                  " -c agent.toml --check\n  " + program +
                  " -c agent.toml --set data.path=/data/digits",
      .takes_join = true};
  return daemon_main(about, argc, argv, std::cout, std::cerr,
                     [&](const DaemonFlags& flags) -> Status {
                       TRIBUTARY_ASSIGN(const AgentSettings settings, read_agent_settings(flags));
                       if (!flags.check) return run_agent(settings, open_mpi);
                       std::cout << "the settings are valid\n";
                       return {};
                     });
}

}  // namespace tributary
