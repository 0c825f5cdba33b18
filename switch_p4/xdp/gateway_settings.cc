#include "switch_p4/xdp/gateway_settings.h"

#include <variant>

namespace tributary::switch_xdp {

Result<GatewaySettings> read_gateway_settings(const DaemonFlags& flags) {
  GatewaySettings read;
  TRIBUTARY_ASSIGN(read.common, switchd::read_switch_settings(flags, [&read](Settings& settings) {
                     settings.text("switch.device", read.device);
                     settings.bind("switch.mode", [&read](const Settings::Value& value) -> Status {
                       const auto* const text = std::get_if<std::string>(&value);
                       TRIBUTARY_ASSIGN(read.mode,
                                        parse_mode(text != nullptr ? *text : std::string()));
                       return {};
                     });
                   }));
  if (read.common.ports.listen.port == 0) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting switch.listen",
                   .expected = "a port, which the XDP program must know",
                   .got = read.common.ports.listen.text()});
  }
  if (read.device.empty()) {
    return Status(StatusCode::invalid_argument, {.what = "setting switch.device",
                                                 .expected = "the name of a network device",
                                                 .got = "none",
                                                 .remedy = "name it, for example eth0"});
  }
  return read;
}

}  // namespace tributary::switch_xdp
