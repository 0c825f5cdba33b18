#include "coordinator/operator_ports.h"

#include <string>
#include <utility>

#include "coordinator/watch_port.h"

namespace tributary {

OperatorPorts::OperatorPorts(const CoordinatorSettings& settings, OperatorService::Machine machine,
                             OperatorService::Agents agents, Token first_command)
    : watchers_(settings.encrypted ? settings.watch_allow_file : "", "watchers"),
      service_(std::move(machine), std::move(agents),
               {.incoming_bytes_max = settings.machine.incoming_bytes_max,
                .redo_models = settings.machine.redo_models,
                .redo_bytes_in_memory_max = settings.machine.redo_bytes_in_memory_max,
                .outgoing_bytes_max = settings.machine.outgoing_bytes_max,
                .payload_bytes_max = settings.machine.payload_bytes_max},
               first_command) {}

// The servers' threads may wait in OperatorService::answer(), so close() must wake them first.
OperatorPorts::~OperatorPorts() { service_.close(); }

Result<std::unique_ptr<OperatorPorts>> OperatorPorts::open(const CoordinatorSettings& settings,
                                                           OperatorService::Machine machine,
                                                           OperatorService::Agents agents,
                                                           Token first_command, const Clock& clock,
                                                           Log& log) {
  std::unique_ptr<OperatorPorts> ports(
      new OperatorPorts(settings, std::move(machine), std::move(agents), first_command));
  const auto ask = [service = &ports->service_](std::string_view question) {
    return service->answer(question);
  };
  if (settings.control) {
    TRIBUTARY_ASSIGN(ports->control_,
                     ControlServer::open(control_path(settings.journal.file), ask));
  }
  TRIBUTARY_ASSIGN(ports->watch_, open_watch_port(settings, ports->watchers_, ask, clock, log));
  return ports;
}

// The local socket closes, so that an operator's tool fails at once instead of waiting.
void OperatorPorts::close_operators() {
  service_.close();
  control_.reset();
}

void OperatorPorts::read_watchers_again(Log& log) {
  if (watch_) watchers_.read_again(log);
}

void OperatorPorts::export_metrics(Metrics& metrics) const {
  if (watch_) export_watch_metrics(*watch_, metrics);
}

}  // namespace tributary
