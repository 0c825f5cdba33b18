// The settings of tributary-switch-xdp. Those of tributary-switchd have the same names, so that one
// file serves both; the device and the mode come in addition. Reads files; called once.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/service/settings/common_settings.h"
#include "switch_p4/xdp/gateway.h"

namespace tributary::switch_xdp {

struct GatewaySettings {
  CommonSettings common;
  std::string device;
  XdpMode mode = XdpMode::any;
  GatewayOptions gateway;
  bool segments = true;
  std::uint32_t batch = 32;
  std::string state;  // file of the installed epochs
  std::vector<in_network::SlotJob> jobs;
};

Result<GatewaySettings> read_gateway_settings(const DaemonFlags& flags);

}  // namespace tributary::switch_xdp
