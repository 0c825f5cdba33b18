#include <iostream>

#include "core/service/stop_signals.h"
#include "switch_p4/switchd/config.h"
#include "switch_p4/switchd/daemon.h"
#include "switch_p4/switchd/switch_thread.h"

int main(int argc, char** argv) {
  // Signals are blocked before any thread starts, so that no other thread receives them.
  tributary::StopSignals::block();
  using tributary::DaemonFlags;
  using tributary::Result;
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
        using namespace tributary::switchd;
        TRIBUTARY_ASSIGN(const SwitchSettings settings, read_switch_settings(flags));
        if (flags.check) {
          std::cout << "the settings are valid\n";
          return {};
        }
        const SwitchParts parts = {.settings = settings,
                                   .json = flags.json,
                                   .open_plane = [&]() -> Result<std::unique_ptr<DataPlane>> {
                                     TRIBUTARY_ASSIGN(std::unique_ptr<DataPlane> plane,
                                                      SwitchThread::open(settings.ports));
                                     return plane;
                                   },
                                   .read_settings = [&] { return read_switch_settings(flags); }};
        return run_switch(parts, std::cout);
      });
}
