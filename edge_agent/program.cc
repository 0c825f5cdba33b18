#include "edge_agent/program.h"

#include <iostream>

namespace tributary {

int agent_main(const AgentProgram& program, int argc, char** argv, const OpenMpi& open_mpi) {
  const DaemonAbout about = {
      .program = program.name,
      .summary = "trains on this device's data and exchanges compressed updates with a coordinator",
      .details = program.details,
      .examples = program.examples,
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
