// The endpoints for operators and observers: a Unix socket on this machine, and a TCP port for
// observers. One OperatorService answers operators' commands from both.
//
// Threads: the endpoints have their own threads. All methods belong to the thread of the state
// machine.
#pragma once

#include <memory>
#include <vector>

#include "coordinator/config.h"
#include "coordinator/operators/allow_file.h"
#include "coordinator/operators/operator_service.h"
#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/net/zmq/control.h"
#include "core/service/metrics/metrics.h"
#include "core/watch/watch_server.h"

namespace tributary {

class OperatorPorts {
 public:
  // `clock`, `log` and the functions in `machine` and `agents` must outlive the object. Returns an
  // error if an endpoint cannot be opened.
  static Result<std::unique_ptr<OperatorPorts>> open(const CoordinatorSettings& settings,
                                                     OperatorService::Machine machine,
                                                     OperatorService::Agents agents,
                                                     Token first_command, const Clock& clock,
                                                     Log& log);
  // Answers all waiting commands with an error.
  ~OperatorPorts();
  OperatorPorts(const OperatorPorts&) = delete;
  OperatorPorts& operator=(const OperatorPorts&) = delete;

  // See OperatorService.
  std::vector<Event> take() { return service_.take(); }
  bool done(const CommandDone& done) { return service_.done(done); }
  // Refuses operators' commands from now on. Observers are still served.
  void close_operators();

  // Reads the allow-list of observers again. On an error, the old list stays and the error is
  // logged.
  void read_watchers_again(Log& log);
  void export_metrics(Metrics& metrics) const;

 private:
  OperatorPorts(const CoordinatorSettings& settings, OperatorService::Machine machine,
                OperatorService::Agents agents, Token first_command);

  AllowFile watchers_;
  OperatorService service_;
  std::unique_ptr<ControlServer> control_;  // the servers are destroyed before the service
  std::unique_ptr<WatchServer> watch_;      // null if the settings name no port for observers
};

}  // namespace tributary
