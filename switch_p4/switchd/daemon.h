// The program tributary-switchd: settings, and the loop until a signal ends it.
//
// One thread beside that of the signals. The functions are called once.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"
#include "core/net/udp/udp_address.h"
#include "core/service/settings/common_settings.h"

namespace tributary::switchd {

struct SwitchSettings {
  std::string log_level = "info";
  bool log_json = false;
  UdpAddress listen;
  UdpAddress group;  // multicast; empty: unicast
  std::uint32_t slots = 1024;
  std::uint32_t batch = 32;
  bool segments = true;
  std::string state;  // file of the installed epochs
  std::vector<in_network::SlotJob> jobs;
};

Result<SwitchSettings> read_switch_settings(const DaemonFlags& flags);

// Runs until SIGTERM or SIGINT. SIGHUP reads the settings again and installs new epochs. With
// flags.json, the counters are one line of JSON in `out` at each SIGHUP and at the end.
Status run_switch(const SwitchSettings& settings, const DaemonFlags& flags, std::ostream& out);

}  // namespace tributary::switchd
