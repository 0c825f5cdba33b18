// The aggregator's session with its coordinator: the connection, the state machine
// (core/round/aggregator) and the loop that runs it. The coordinator's orders go to the installer.
//
// All methods belong to one thread.
#pragma once

#include <functional>
#include <memory>

#include "core/base/status.h"
#include "core/net/zmq/spoke.h"
#include "core/round/aggregator/network_aggregator.h"
#include "core/service/daemon_outlets.h"
#include "core/service/loop/machine_loop.h"
#include "switch_p4/switchd/config.h"
#include "switch_p4/switchd/jobs/job_installer.h"

namespace tributary::switchd {

// They outlive the session. `finished` receives the status with which the machine has ended.
struct CoordinatorSessionParts {
  const SwitchSettings& settings;
  DaemonOutlets& outlets;
  JobInstaller& installer;
  std::function<void(Status)> finished;
};

class CoordinatorSession {
 public:
  // Returns an error if the keys cannot be read. A coordinator that cannot be reached is no error.
  static Result<std::unique_ptr<CoordinatorSession>> open(CoordinatorSessionParts parts);
  CoordinatorSession(const CoordinatorSession&) = delete;
  CoordinatorSession& operator=(const CoordinatorSession&) = delete;

  // Waits for an event until the deadline, and handles it.
  Status turn(TimeNs deadline) { return loop_->turn(deadline).status(); }
  void wake() { link_->wake(); }  // any thread
  // Leaves the coordinator; `finished` follows.
  void shut_down();
  bool connected() const { return machine_->connected(); }
  bool idle() const { return machine_->idle(); }

 private:
  explicit CoordinatorSession(CoordinatorSessionParts parts) : parts_(std::move(parts)) {}
  Status set_up();
  void execute(Action& action);
  void install(const wire::InstallEpochT& order);

  const CoordinatorSessionParts parts_;
  std::unique_ptr<Spoke> link_;
  std::unique_ptr<NetworkAggregator> machine_;
  std::unique_ptr<MachineLoop> loop_;
};

}  // namespace tributary::switchd
