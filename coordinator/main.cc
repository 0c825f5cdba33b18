#include <iostream>

#include "coordinator/daemon.h"
#include "core/service/stop_signals.h"

int main(int argc, char** argv) {
  // Signals are blocked before any thread starts, so that no other thread receives them. Loading a
  // trainer's library starts threads.
  tributary::StopSignals::block();
  using tributary::DaemonFlags;
  using tributary::Status;
  const tributary::DaemonAbout about = {.program = "tributary-coordinator",
                                        .summary =
                                            "plans the rounds of a federation, combines the "
                                            "updates of its agents, and keeps the journal",
                                        .details =
                                            "Keeps jobs, models and rounds in its journal, and "
                                            "continues from it after a restart.",
                                        .examples =
                                            "  tributary-coordinator --config coordinator.toml\n"
                                            "  tributary-coordinator -c coordinator.toml --check\n"
                                            "  tributary-coordinator -c coordinator.toml "
                                            "--job digits.toml --exit-when-done",
                                        .takes_job = true};
  return tributary::daemon_main(about, argc, argv, std::cout, std::cerr,
                                [](const DaemonFlags& flags) -> Status {
                                  TRIBUTARY_ASSIGN(const tributary::CoordinatorSettings settings,
                                                   tributary::read_coordinator_settings(flags));
                                  if (!flags.check) return tributary::run_coordinator(settings);
                                  std::cout << "the settings are valid\n";
                                  return {};
                                });
}
