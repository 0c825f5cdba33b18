// The settings of tributary-switchd, as read from flags and the settings file. docs/in_network.md
// describes every setting.
//
// Reading has no effect but opening the files that the settings name. The jobs come from the
// coordinator or from the settings, not from both.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"
#include "core/net/udp/udp_address.h"
#include "core/service/settings/common_settings.h"
#include "core/service/settings/spoke_settings.h"
#include "switch_p4/switchd/switch_thread.h"

namespace tributary::switchd {

struct SwitchSettings {
  CommonSettings common;
  SpokeSettings link;  // link.given(): the jobs come from the coordinator
  SwitchThreadOptions ports;
  UdpAddress advertise;  // the address that agents send to
  // Most values in a packet, of jobs that come from the coordinator.
  std::uint32_t packet_values = in_network::kCountMaxNarrow;
  std::string state;  // file of the installed epochs; the socket for operators is beside it
  std::vector<in_network::SlotJob> jobs;
};

// An error names the setting. `bind_more` binds the settings of a data plane.
using BindMore = std::function<void(Settings&)>;
Result<SwitchSettings> read_switch_settings(const DaemonFlags& flags,
                                            const BindMore& bind_more = {});

}  // namespace tributary::switchd
