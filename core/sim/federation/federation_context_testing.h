// What the hosts of a federation share with the test that drives it.
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/status.h"
#include "core/round/common/machine/events.h"
#include "core/sim/federation/federation_options_testing.h"
#include "core/sim/federation/machine_log_testing.h"
#include "core/sim/federation/peer_faults_testing.h"
#include "core/update/layer_map.h"

namespace tributary::sim_testing {

// Changes what an agent is given as its update.
using UpdateTwist = std::function<void(std::uint32_t agent, FloatVector& update)>;

// All that it refers to outlives the hosts.
struct FederationContext {
  const Options& options;
  const LayerMap& map;
  MachineLog& log;
  PeerFaults& peers;
  const UpdateTwist& twist;
  TimeNs stopwatch_ns = 0;  // of all agents
};

inline Status disk_full() {
  return Status(
      StatusCode::io_error,
      {.what = "journal", .expected = "room on the disk", .got = "none", .remedy = "free some"});
}

}  // namespace tributary::sim_testing
