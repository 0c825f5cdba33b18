#include <iostream>

#include "core/service/stop_signals.h"
#include "switch_p4/switchd/daemon.h"
#include "switch_p4/xdp/gateway_settings.h"
#include "switch_p4/xdp/xdp_plane.h"

int main(int argc, char** argv) {
  // Signals are blocked before any thread starts, so that no other thread receives them.
  tributary::StopSignals::block();
  using tributary::DaemonFlags;
  using tributary::Result;
  using tributary::Status;
  const tributary::DaemonAbout about = {
      .program = "tributary-switch-xdp",
      .summary = "adds the updates of a federation's agents on a network device, by XDP",
      .details =
          "Is tributary-switchd with another data plane: it has the same settings and the same "
          "session with\nthe coordinator, and the kernel adds on switch.device. The kernel "
          "detaches the XDP program when\nthis process ends. docs/in_network.md describes rights, "
          "rules and limits.",
      .examples =
          "  tributary-switch-xdp --join gateway.join -c switch.toml --set switch.device=eth0\n"
          "  tributary-switch-xdp -c switch.toml --check\n"
          "  tributary-switch-xdp -c switch.toml --set switch.mode=generic --json",
      .takes_join = true,
      .takes_json = true};
  return tributary::daemon_main(
      about, argc, argv, std::cout, std::cerr, [](const DaemonFlags& flags) -> Status {
        using tributary::switchd::DataPlane;
        using namespace tributary::switch_xdp;
        TRIBUTARY_ASSIGN(const GatewaySettings settings, read_gateway_settings(flags));
        if (flags.check) {
          std::cout << "the settings are valid\n";
          return {};
        }
        const tributary::switchd::SwitchParts parts = {
            .settings = settings.common,
            .json = flags.json,
            .open_plane = [&]() -> Result<std::unique_ptr<DataPlane>> {
              TRIBUTARY_ASSIGN(std::unique_ptr<DataPlane> plane, XdpPlane::open(settings));
              return plane;
            },
            .read_settings = [&]() -> Result<tributary::switchd::SwitchSettings> {
              TRIBUTARY_ASSIGN(GatewaySettings again, read_gateway_settings(flags));
              return std::move(again.common);
            }};
        return run_switch(parts, std::cout);
      });
}
