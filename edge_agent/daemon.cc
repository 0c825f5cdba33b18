#include "edge_agent/daemon.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "core/base/overloaded.h"
#include "core/base/thread_pool.h"
#include "core/net/shaped/shaped_peer_port.h"
#include "core/net/shaped/trace.h"
#include "core/service/daemon_end.h"
#include "core/service/daemon_outlets.h"
#include "core/service/loop/idle_memory.h"
#include "core/service/loop/machine_loop.h"
#include "core/service/loop/worker.h"
#include "core/service/metrics/reading_metrics.h"
#include "core/service/service_manager.h"
#include "core/service/stop_signals.h"
#include "edge_agent/agent_storage.h"
#include "edge_agent/agent_training.h"
#include "edge_agent/auditor.h"
#include "edge_agent/device/encoding_device.h"
#include "edge_agent/device/gpu.h"
#include "edge_agent/links/peer_service.h"
#include "edge_agent/links/sums_service.h"

namespace tributary {
namespace {

constexpr std::string_view kComponent = "agent";
// Period of the tasks that are not driven by events.
constexpr TimeNs kAgentLookEveryNs = 50 * kNsPerMs;
constexpr TimeNs kMetricsEveryNs = 1'000 * kNsPerMs;
// Every 30 min, because speeds change with the device's temperature.
constexpr TimeNs kMeasureDeviceEveryNs = 30 * 60 * 1'000 * kNsPerMs;

// Returns a link that follows the trace in the file, without a burst.
Result<ShapedOptions> shape_of(const std::string& trace_file) {
  ShapedOptions shape;
  shape.out.burst_bytes = shape.in.burst_bytes = 0;
  shape.in.stream = 1;
  if (trace_file.empty()) return shape;
  TRIBUTARY_ASSIGN(LinkTrace trace, LinkTrace::read(trace_file));
  shape.trace = std::make_shared<const LinkTrace>(std::move(trace));
  return shape;
}

// Connects the state machine with everything that does I/O. All members belong to the loop's thread
// unless their own comment says otherwise. The order of the members is the reverse order of their
// destruction.
class AgentDaemon {
 public:
  AgentDaemon(const AgentSettings& settings, const OpenMpi& open_mpi)
      : settings_(settings), open_mpi_(open_mpi), end_(settings.common.stop_grace_ms * kNsPerMs) {}
  AgentDaemon(const AgentDaemon&) = delete;
  AgentDaemon& operator=(const AgentDaemon&) = delete;

  // The device outlives the daemon.
  Status open(const EncodingDevice& device);
  Status run();

 private:
  // The times at which periodic tasks are due, and what is done once.
  struct Schedule {
    bool last_evaluated = false;  // the last model; or its evaluation has started
    TimeNs look_at_ns = 0;
    TimeNs metrics_at_ns = 0;
    IdleMemory idle_memory;
    TimeNs measure_device_at_ns = 0;
  };

  // The links past the coordinator.
  struct DirectLinks {
    std::unique_ptr<PeerService> peers;  // null: no endpoint for peers
    std::unique_ptr<SumsService> sums;   // null: no port for sums in the network
  };

  Status open_link(const std::shared_ptr<const KeyPair>& keys);
  Status open_peers(std::shared_ptr<const KeyPair> keys);
  Result<std::unique_ptr<PeerPort>> open_peer_port();
  Status open_sums();
  Result<AgentState> open_storage(CodecDevice* device);
  Status open_training(CodecDevice* device);
  Actions handle(TimeNs now, Event event);
  void execute(Action& action);
  void log_audit();
  void log_device(const EncodingDevice& device);
  void run_periodic_tasks();
  void export_metrics();
  bool everything_done() const;

  Log& log() { return outlets_->log(); }

  const AgentSettings& settings_;
  const OpenMpi& open_mpi_;
  std::unique_ptr<DaemonOutlets> outlets_;
  std::unique_ptr<Transport> link_;
  std::unique_ptr<Agent> machine_;
  std::unique_ptr<Auditor> auditor_;  // null: auditing is off
  // Written by the loop and read by the training's thread; negative: unknown.
  std::atomic<double> conservation_error_ = -1;
  std::unique_ptr<MachineLoop> loop_;
  DirectLinks direct_;
  // Ends before the machine and the loop. Null: the host encodes, on the loop's thread.
  std::unique_ptr<Worker> encoder_;
  // Both are destroyed before the loop that they post to. The storage is destroyed first, because
  // it reports stored definitions to the training.
  std::unique_ptr<AgentTraining> training_;
  std::unique_ptr<AgentStorage> storage_;
  std::unique_ptr<StopSignals> signals_;

  DaemonEnd end_;
  Schedule next_;
};

// The order matters. The journal is read first, because the machine starts from its state. Signals
// are the last, because their handler uses the loop.
Status AgentDaemon::open(const EncodingDevice& device) {
  TRIBUTARY_ASSIGN(outlets_, DaemonOutlets::open(settings_.common, kComponent));
  log_device(device);
  TRIBUTARY_ASSIGN(AgentState state, open_storage(device.device.get()));
  TRIBUTARY_ASSIGN(const std::shared_ptr<const KeyPair> keys, settings_.link.keys());
  TRIBUTARY_TRY(open_link(keys));
  TRIBUTARY_TRY(open_peers(keys));
  TRIBUTARY_TRY(open_sums());
  if (settings_.audit) auditor_ = std::make_unique<Auditor>();

  AgentConfig config = settings_.machine;
  if (device.device != nullptr) {
    config.execution.device = device.device.get();
    config.encodes_in_background = true;
    encoder_ = std::make_unique<Worker>("encoder");
    device.device->report_errors_to([this](const Status& error) {
      log().warning(kComponent, "the host does the work of the device", {{"error", error.text()}});
    });
  }
  if (direct_.peers) config.endpoints = {direct_.peers->endpoint()};
  TRIBUTARY_ASSIGN(config.incarnation, draw_incarnation());
  config.stopwatch = [this] { return outlets_->clock().now().count(); };
  TRIBUTARY_ASSIGN(machine_, Agent::make(std::move(config), std::move(state)));
  loop_ = std::make_unique<MachineLoop>(
      LoopParts{.handle = [this](TimeNs now, Event event) { return handle(now, std::move(event)); },
                .next_wakeup_ns = [this] { return machine_->next_wakeup_ns(); },
                .execute = [this](Action& action) { execute(action); },
                .one_peer = true,
                .link = *link_,
                .clock = outlets_->clock(),
                .notes = outlets_->notes()});
  TRIBUTARY_ASSIGN(signals_, StopSignals::open([this](int signal) {
                     if (signal != SIGHUP) loop_->post(Shutdown{.reason = "stopped by a signal"});
                   }));
  return {};
}

// The seed of the transport is random, so that agents that lost the coordinator together do not
// reconnect together.
Status AgentDaemon::open_link(const std::shared_ptr<const KeyPair>& keys) {
  TRIBUTARY_ASSIGN(const std::uint64_t seed, draw_incarnation());
  TRIBUTARY_ASSIGN(link_, settings_.link.open(*keys, seed));
  // A shaped link simulates a slow network, for tests and demonstrations.
  if (settings_.shape_bytes_per_s == 0 && settings_.shape_trace.empty()) return {};
  TRIBUTARY_ASSIGN(ShapedOptions shape, shape_of(settings_.shape_trace));
  shape.out.seed = shape.in.seed = seed;
  shape.out.bytes_per_s = settings_.shape_bytes_per_s;
  shape.out.burst_bytes = shape.in.burst_bytes = settings_.shape_burst_bytes;
  TRIBUTARY_ASSIGN(link_, make_shaped(std::move(link_), outlets_->clock(), shape));
  return {};
}

Result<std::unique_ptr<PeerPort>> AgentDaemon::open_peer_port() {
  const bool mpi = settings_.peers_transport == PeerTransport::mpi;
  TRIBUTARY_ASSIGN(std::unique_ptr<PeerPort> port,
                   mpi ? open_mpi_(outlets_->clock())
                       : open_tcp_peer_port(settings_.peers_endpoint, settings_.peers_advertise,
                                            outlets_->clock()));
  if (settings_.peers_shape_trace.empty()) return port;
  TRIBUTARY_ASSIGN(const ShapedOptions shape, shape_of(settings_.peers_shape_trace));
  return make_shaped_peer_port(std::move(port), outlets_->clock(), shape);
}

Status AgentDaemon::open_peers(std::shared_ptr<const KeyPair> keys) {
  const bool mpi = settings_.peers_transport == PeerTransport::mpi;
  if (!mpi && settings_.peers_endpoint.empty()) return {};
  TRIBUTARY_ASSIGN(std::unique_ptr<PeerPort> port, open_peer_port());
  // MPI has no encryption, so keys would give a false sense of security.
  if (mpi || !settings_.link.encrypted) keys = nullptr;
  auto link = PeerLink::make_over(std::move(port), {.endpoint = {}, .keys = std::move(keys)},
                                  outlets_->clock(),
                                  [this](Event event, std::shared_ptr<const void> owner) {
                                    loop_->post(std::move(event), std::move(owner));
                                  });
  direct_.peers = std::make_unique<PeerService>(std::move(link), log(), outlets_->metrics());
  if (mpi) {
    log().warning(kComponent, "peers are not encrypted: MPI has no encryption",
                  {{"endpoint", direct_.peers->endpoint()}});
  } else {
    log().info(kComponent, "listens for peers", {{"endpoint", direct_.peers->endpoint()}});
  }
  return {};
}

Status AgentDaemon::open_sums() {
  const auto& offered = settings_.machine.capabilities.collectives;
  if (std::ranges::find(offered, wire::Collective::in_network) == offered.end()) return {};
  TRIBUTARY_ASSIGN(
      std::unique_ptr<AggregatorLink> link,
      AggregatorLink::make(
          {.session = {.listen = settings_.in_network_listen, .group = settings_.in_network_group}},
          outlets_->clock(), [this](NetworkSummed summed) { loop_->post(std::move(summed)); }));
  direct_.sums = std::make_unique<SumsService>(std::move(link), log(), outlets_->metrics());
  return {};
}

// Opens the journal and passes the stored job definition to the trainer.
Result<AgentState> AgentDaemon::open_storage(CodecDevice* device) {
  TRIBUTARY_TRY(open_training(device));
  TRIBUTARY_ASSIGN(
      storage_,
      AgentStorage::open(
          {.path = settings_.journal.file, .durability = settings_.journal.durability()},
          {.post = [this](Event event) { loop_->post(std::move(event)); },
           .definition_stored =
               [this](SharedBytes definition) { training_->set_definition(std::move(definition)); },
           .log = log()}));
  return storage_->restore();
}

// The auditor reads every update, so all of them are in host memory if it runs.
Status AgentDaemon::open_training(CodecDevice* device) {
  TrainerOptions options = settings_.training;
  if (!settings_.audit) options.device = device;
  TRIBUTARY_ASSIGN(std::unique_ptr<Trainer> trainer, make_trainer(settings_.trainer, options));
  training_ = std::make_unique<AgentTraining>(
      std::move(trainer),
      AgentTrainingParts{.post = [this](Event event) { loop_->post(std::move(event)); },
                         .now = [this] { return loop_->now(); },
                         .conservation_error = [this] { return conservation_error_.load(); },
                         .clock = outlets_->clock(),
                         .log = log(),
                         .metrics = outlets_->metrics()});
  return {};
}

// The auditor sees every event before and its actions after the machine, so that it does not depend
// on the machine's own account.
Actions AgentDaemon::handle(TimeNs now, Event event) {
  if (const auto* shutdown = std::get_if<Shutdown>(&event)) {
    end_.stop(now);
    log().info(kComponent, "stopping", {{"reason", shutdown->reason}});
    ignore_error(notify_service_manager("STOPPING=1"));
  }
  if (!auditor_) return machine_->handle(now, std::move(event));
  auditor_->before(event);
  Actions actions = machine_->handle(now, std::move(event));
  auditor_->after(actions, *machine_);
  conservation_error_ = auditor_->error_max().value_or(-1);
  return actions;
}

// Logs the final result of the audit. An error is logged again here.
void AgentDaemon::log_audit() {
  if (!auditor_) return;
  if (!auditor_->status().ok()) {
    log().error(kComponent, "conservation violated", {{"error", auditor_->status().text()}});
  } else if (const std::optional<double> error = auditor_->error_max()) {
    log().info(kComponent, "conservation holds", {{"error_of_bound", *error}});
  } else {
    log().info(kComponent, "conservation not audited");
  }
}

// An agent that has been told to use a GPU is warned about the lack of one.
void AgentDaemon::log_device(const EncodingDevice& device) {
  for (const FamilySpeed& speed : device.speeds) {
    log().info(kComponent, "measured where to encode",
               {{"codec", speed.codec},
                {"device_ms", speed.device_s * 1e3},
                {"host_ms", speed.host_s * 1e3}});
  }
  if (device.unusable.ok()) {
    log().info(kComponent, "encodes", {{"device", device.name()}});
  } else if (settings_.codec_device == DeviceSetting::cuda) {
    log().warning(kComponent, "codec.device is cuda, but the host encodes",
                  {{"device", device.name()}, {"reason", device.unusable.text()}});
  } else {
    log().info(kComponent, "encodes",
               {{"device", device.name()}, {"reason", device.unusable.text()}});
  }
}

void AgentDaemon::execute(Action& action) {
  std::visit(
      Overloaded{
          [this](StoreAgent& record) { storage_->store(record); },
          [this](const Train& order) { training_->train(order); },
          [this](const RunInBackground& order) {
            encoder_->post([this, order] {
              order.work->run();
              loop_->post(BackgroundDone{.token = order.token});
            });
          },
          [this](SendToPeer& message) {
            if (direct_.peers) direct_.peers->send(message);
          },
          [this](OpenPeers& epoch) {
            if (direct_.peers) direct_.peers->open(epoch);
          },
          [this](const ClosePeers&) {
            if (direct_.peers) direct_.peers->close();
          },
          [this](SumInNetwork& bucket) {
            if (direct_.sums) direct_.sums->sum(bucket);
          },
          [this](const StopSums& attempt) {
            if (direct_.sums) direct_.sums->stop(attempt);
          },
          [this](const Reading& reading) { publish(reading, outlets_->metrics()); },
          [this](const Finished& finished) { end_.finish(finished.status); },
          // The loop has already performed these actions, and the auditor has seen the last one.
          Ignored<Send, ClosePeer, Note, ResidualDropped>(),
          // Only coordinators perform these actions.
          Ignored<StoreCoordinator, LoadRound, ProbeEchoed, LinksReported, SpeedsReported,
                  AgentReported, RoundPlayed, CommandDone>(),
          // Only aggregators perform this action.
          Ignored<InstallSums>(),
      },
      action);
}

void AgentDaemon::export_metrics() {
  const LinkCounters counters = link_->counters();
  Metrics& metrics = outlets_->metrics();
  metrics.set("tributary_connected", machine_->connected() ? 1 : 0);
  const auto reading = [&](ReadingKind kind, std::uint64_t value) {
    publish({.kind = kind, .value = static_cast<double>(value)}, metrics);
  };
  reading(ReadingKind::model_version, machine_->model_version());
  reading(ReadingKind::buffered_bytes, machine_->buffered_bytes());
  reading(ReadingKind::link_in_bytes, counters.bytes_in);
  reading(ReadingKind::link_out_bytes, counters.bytes_out);
}

// Whether the job is over, its last model is applied, and no work remains.
bool AgentDaemon::everything_done() const {
  return storage_->job_over() && machine_->model_version() >= storage_->last_version() &&
         machine_->idle() && machine_->undecided().empty();
}

void AgentDaemon::run_periodic_tasks() {
  const TimeNs now = loop_->now();
  if (now < next_.look_at_ns) return;
  next_.look_at_ns = now + kAgentLookEveryNs;
  // A job may continue after it was over, for example with more rounds.
  if (!storage_->job_over()) next_.last_evaluated = false;
  if (!next_.last_evaluated && everything_done()) {
    next_.last_evaluated = true;
    training_->evaluate_last(machine_->model(), machine_->model_version());
  }
  // The last evaluation must be complete, because its result would otherwise be lost.
  const bool done = !end_.stopping() && !training_->evaluating() && everything_done();
  if (settings_.exit_when_done && done) loop_->feed(Shutdown{.reason = "the job is done"});
  end_.look(now, machine_->idle());
  if (now < next_.metrics_at_ns) return;
  next_.metrics_at_ns = now + kMetricsEveryNs;
  export_metrics();
  if (direct_.sums) direct_.sums->export_metrics(outlets_->notes());
  if (direct_.peers) {
    direct_.peers->export_metrics(outlets_->notes());
    if (ReportLinks report = direct_.peers->links_to_report(now); !report.links.empty()) {
      loop_->feed(std::move(report));
    }
  }
  next_.idle_memory.look(now);
  if (now < next_.measure_device_at_ns) return;
  next_.measure_device_at_ns = now + kMeasureDeviceEveryNs;
  training_->measure_device();
}

Status AgentDaemon::run() {
  log().info(kComponent, "started",
             {{"agent_id", settings_.machine.agent_id},
              {"coordinator", settings_.link.coordinator},
              {"encrypted", settings_.link.encrypted},
              {"threads", settings_.common.threads}});
  if (Status status = notify_service_manager("READY=1"); !status.ok()) {
    log().warning(kComponent, "service manager", {{"error", status.text()}});
  }
  while (!end_.ended()) {
    TRIBUTARY_TRY(loop_->turn(next_.look_at_ns).status());
    run_periodic_tasks();
  }
  log_audit();
  log().info(kComponent, "stopped", {{"model_version", machine_->model_version()}});
  return end_.status();
}

}  // namespace

Result<std::unique_ptr<PeerPort>> without_mpi(const Clock&) {
  return Status(StatusCode::unsupported,
                {.what = "peers.transport",
                 .expected = "tcp, because this program is built without MPI",
                 .got = "mpi",
                 .remedy = "start tributary-agent-mpi with mpirun; it is built if "
                           "libopenmpi-dev and openmpi-bin are installed"});
}

Status run_agent(const AgentSettings& settings, const OpenMpi& open_mpi) {
  // The pool and the device outlive everything that uses them.
  ThreadPool pool(settings.common.threads);
  const EncodingDevice device =
      open_encoding_device(settings.codec_device, open_gpu, pool, SystemClock());
  AgentSettings own = settings;
  own.machine.execution.pool = &pool;
  AgentDaemon daemon(own, open_mpi);
  TRIBUTARY_TRY(daemon.open(device));
  return daemon.run();
}

}  // namespace tributary
