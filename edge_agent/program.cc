#include "edge_agent/program.h"

#include <iostream>

namespace tributary {

int agent_main(const AgentProgram& program, int argc, char** argv, const OpenMpi& open_mpi) {
  const DaemonAbout about = {
      .program = program.name,
      .summary = "trains on this device's data and exchanges compressed updates with a coordinator",
      .details = program.details,
      .examples = program.examples,
      .takes_join = true,
      // An agent receives parts of 4 MiB, and a trainer's engine allocates and frees its tensors in
      // each step. With mapped blocks, a step of a small convolutional network clears 10 MiB of
      // pages. This is malloc's own upper limit.
      .mapped_block_bytes_min = std::size_t{32} << 20};
  return daemon_main(about, argc, argv, std::cout, std::cerr,
                     [&](const DaemonFlags& flags) -> Status {
                       TRIBUTARY_ASSIGN(const AgentSettings settings, read_agent_settings(flags));
                       if (!flags.check) return run_agent(settings, open_mpi);
                       std::cout << "the settings are valid\n";
                       return {};
                     });
}

}  // namespace tributary
