// The endpoints of a coordinator for operators and watchers: a Unix socket on this machine, and a
// TCP port for watchers. One desk answers the questions of operators from either.
//
// Threads: the endpoints have their own; take() and done() belong to the machine's.
#pragma once

#include <memory>
#include <vector>

#include "coordinator/config.h"
#include "coordinator/operators/allow_file.h"
#include "coordinator/operators/control_desk.h"
#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/net/zmq/control.h"
#include "core/service/metrics/metrics.h"
#include "core/watch/watch_server.h"

namespace tributary {

class OperatorPorts {
 public:
  // Clock and log, and what the desk asks, must outlive it.
  static Result<std::unique_ptr<OperatorPorts>> open(const CoordinatorSettings& settings,
                                                     ControlDesk::Machine machine,
                                                     ControlDesk::Agents agents,
                                                     Token first_command, const Clock& clock,
                                                     Log& log);
  // Ends the questions that wait for an answer with an error.
  ~OperatorPorts();
  OperatorPorts(const OperatorPorts&) = delete;
  OperatorPorts& operator=(const OperatorPorts&) = delete;

  // As ControlDesk has them.
  std::vector<Event> take() { return desk_.take(); }
  bool done(const CommandDone& done) { return desk_.done(done); }
  // Refuses the questions of operators from then on; watchers are still served.
  void close_operators();

  void read_watchers_again(Log& log);
  void export_metrics(Metrics& metrics) const;

 private:
  OperatorPorts(const CoordinatorSettings& settings, ControlDesk::Machine machine,
                ControlDesk::Agents agents, Token first_command);

  AllowFile watchers_;
  ControlDesk desk_;
  std::unique_ptr<ControlServer> control_;  // these end before the desk
  std::unique_ptr<WatchServer> watch_;      // null: the settings name no port for watchers
};

}  // namespace tributary
