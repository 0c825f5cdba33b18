#include <iostream>

#include "core/service/stop_signals.h"
#include "switch_p4/switchd/config.h"
#include "switch_p4/switchd/daemon.h"

int main(int argc, char** argv) {
  // Signals are blocked before any thread starts, so that no other thread receives them.
  tributary::StopSignals::block();
  using tributary::DaemonFlags;
  using tributary::Status;
  const tributary::DaemonAbout about = {
      .program = "tributary-switchd",
      .summary = "adds the updates of a federation's agents in the network, by UDP",
      .details =
          "Connects to the coordinator of the join file, which installs jobs. 'tributary keys "
          "join' "
          "makes the\nfile. Levels and sums travel unencrypted. An epoch is served by one process "
          "only: after a restart it is\nrefused, so that no sum is wrong. docs/in_network.md "
          "describes settings, packets and limits.",
      .examples =
          "  tributary-switchd --join gateway.join --config switch.toml\n"
          "  tributary-switchd -c switch.toml --check\n"
          "  tributary-switchd -c switch.toml --set switch.slots=4096 --json",
      .takes_join = true,
      .takes_json = true};
  return tributary::daemon_main(
      about, argc, argv, std::cout, std::cerr, [](const DaemonFlags& flags) -> Status {
        TRIBUTARY_ASSIGN(const tributary::switchd::SwitchSettings settings,
                         tributary::switchd::read_switch_settings(flags));
        if (!flags.check) return tributary::switchd::run_switch(settings, flags, std::cout);
        std::cout << "the settings are valid\n";
        return {};
      });
}
