#include <iostream>

#include "core/service/stop_signals.h"
#include "edge_agent/daemon.h"

int main(int argc, char** argv) {
  // Before there is a thread that could be hit by them: a trainer's library starts some.
  tributary::StopSignals::block();
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
