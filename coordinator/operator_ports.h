// The ways by which operators and watchers reach a coordinator: a socket of this machine, and a
// port for those who look on from elsewhere. One desk answers the operators' questions, whatever
// way they come.
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
  // Whoever still waits for an answer is told that none comes.
  ~OperatorPorts();
  OperatorPorts(const OperatorPorts&) = delete;
  OperatorPorts& operator=(const OperatorPorts&) = delete;

  // The loop's thread: as the desk has it.
  std::vector<Event> take() { return desk_.take(); }
  bool done(const CommandDone& done) { return desk_.done(done); }
  // No operator is answered from then on; who looks on goes on looking.
  void close_operators();

  void read_watchers_again(Log& log);
  void export_metrics(Metrics& metrics) const;

 private:
  OperatorPorts(const CoordinatorSettings& settings, ControlDesk::Machine machine,
                ControlDesk::Agents agents, Token first_command);

  AllowFile watchers_;
  ControlDesk desk_;
  std::unique_ptr<ControlServer> control_;  // these end before the desk
  std::unique_ptr<WatchServer> watch_;      // null: nobody watches from elsewhere
};

}  // namespace tributary
