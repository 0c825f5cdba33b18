// The state that the hosts of a test's federation share with the test.
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

// Changes the update of an agent before it is passed to the machine.
using UpdateTwist = std::function<void(std::uint32_t agent, FloatVector& update)>;

// Everything that it refers to must outlive the hosts.
struct FederationContext {
  const Options& options;
  const LayerMap& map;
  MachineLog& log;
  PeerFaults& peers;
  const UpdateTwist& twist;
  TimeNs stopwatch_ns = 0;  // shared by all agents
};

inline Status disk_full() {
  return Status(
      StatusCode::io_error,
      {.what = "journal", .expected = "room on the disk", .got = "none", .remedy = "free some"});
}

}  // namespace tributary::sim_testing
