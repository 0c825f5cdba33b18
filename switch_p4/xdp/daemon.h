// The program tributary-switch-xdp: loads the XDP program, installs jobs, and sends what the
// program hands over, until a signal ends it. The kernel detaches the program with this process,
// also after SIGKILL. One thread beside that of the signals; called once.
#pragma once

#include <ostream>

#include "core/base/status.h"
#include "switch_p4/xdp/gateway_settings.h"

namespace tributary::switch_xdp {

// Runs until SIGTERM or SIGINT. SIGHUP reads the settings again and installs new epochs. With
// flags.json, the counters are one line of JSON in `out` at each SIGHUP and at the end.
Status run_gateway(const GatewaySettings& settings, const DaemonFlags& flags, std::ostream& out);

}  // namespace tributary::switch_xdp
