#include <iostream>

#include "core/service/stop_signals.h"
#include "switch_p4/xdp/daemon.h"

int main(int argc, char** argv) {
  // Signals are blocked before any thread starts, so that no other thread receives them.
  tributary::StopSignals::block();
  using tributary::DaemonFlags;
  using tributary::Status;
  const tributary::DaemonAbout about = {
      .program = "tributary-switch-xdp",
      .summary = "adds the updates of a federation's agents on a network device, by XDP",
      .details =
          "Serves the jobs in switch.jobs on switch.device, as tributary-switchd does in user "
          "space.\nThe kernel detaches the XDP program when this process ends. SIGHUP reads the "
          "settings\nagain and installs new epochs. docs/in_network.md describes rules and limits.",
      .examples =
          "  tributary-switch-xdp --config switch.toml --set switch.device=eth0\n"
          "  tributary-switch-xdp -c switch.toml --check\n"
          "  tributary-switch-xdp -c switch.toml --set switch.mode=generic --json",
      .takes_json = true};
  return tributary::daemon_main(
      about, argc, argv, std::cout, std::cerr, [](const DaemonFlags& flags) -> Status {
        TRIBUTARY_ASSIGN(const tributary::switch_xdp::GatewaySettings settings,
                         tributary::switch_xdp::read_gateway_settings(flags));
        if (!flags.check) return tributary::switch_xdp::run_gateway(settings, flags, std::cout);
        std::cout << "the settings are valid\n";
        return {};
      });
}
