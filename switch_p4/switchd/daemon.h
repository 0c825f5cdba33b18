// The program tributary-switchd: a thread that serves packets, and the session with a coordinator
// that installs jobs and their epochs. Without a coordinator, the jobs are those of the settings.
//
// The caller's thread runs the session. run_switch() is called once.
#pragma once

#include <ostream>

#include "core/base/status.h"
#include "switch_p4/switchd/config.h"

namespace tributary::switchd {

// Runs until SIGTERM or SIGINT. Without a coordinator, SIGHUP reads the settings again and installs
// new epochs. With flags.json, the counters are one line of JSON in `out` at each SIGHUP and at the
// end.
Status run_switch(const SwitchSettings& settings, const DaemonFlags& flags, std::ostream& out);

}  // namespace tributary::switchd
