// The daemon of an aggregator: a data plane that serves packets, and the session with a coordinator
// that installs jobs and their epochs. Without a coordinator, the jobs are those of the settings.
// tributary-switchd and tributary-switch-xdp differ in their data plane only.
//
// The caller's thread runs the session. run_switch() is called once.
#pragma once

#include <functional>
#include <memory>
#include <ostream>

#include "core/base/status.h"
#include "switch_p4/switchd/config.h"
#include "switch_p4/switchd/data_plane.h"

namespace tributary::switchd {

struct SwitchParts {
  const SwitchSettings& settings;  // outlives the daemon
  bool json = false;  // the counters are one line of JSON in `out` at each SIGHUP and at the end
  // Called once, before the first epoch is installed: an epoch that is remembered can never be
  // installed again.
  std::function<Result<std::unique_ptr<DataPlane>>()> open_plane;
  // Reads the settings again.
  std::function<Result<SwitchSettings>()> read_settings;
};

// Runs until SIGTERM or SIGINT. Without a coordinator, SIGHUP reads the settings again and installs
// new epochs.
Status run_switch(const SwitchParts& parts, std::ostream& out);

}  // namespace tributary::switchd
