#include <iostream>

#include "edge_agent/daemon.h"

int main(int argc, char** argv) {
  using tributary::DaemonFlags;
  using tributary::Status;
  const tributary::DaemonAbout about = {
      .program = "tributary-agent",
      .summary = "trains on this device's data and exchanges compressed updates with a coordinator",
      .takes_join = true};
  return tributary::daemon_main(about, argc, argv, std::cout, std::cerr,
                                [](const DaemonFlags& flags) -> Status {
                                  TRIBUTARY_ASSIGN(const tributary::AgentSettings settings,
                                                   tributary::read_agent_settings(flags));
                                  if (!flags.check) return tributary::run_agent(settings);
                                  std::cout << "settings are fine\n";
                                  return {};
                                });
}
