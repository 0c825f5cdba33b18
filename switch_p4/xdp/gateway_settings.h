// The settings of tributary-switch-xdp: those of tributary-switchd, and the device and the mode.
// Reads files.
#pragma once

#include <string>

#include "core/base/status.h"
#include "switch_p4/switchd/config.h"
#include "switch_p4/xdp/gateway.h"

namespace tributary::switch_xdp {

struct GatewaySettings {
  switchd::SwitchSettings common;
  std::string device;
  XdpMode mode = XdpMode::any;
};

Result<GatewaySettings> read_gateway_settings(const DaemonFlags& flags);

}  // namespace tributary::switch_xdp
