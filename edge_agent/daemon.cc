#include "edge_agent/daemon.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/log/log.h"
#include "core/cost/device_speed.h"
#include "core/net/shaped/shaped_mesh.h"
#include "core/net/shaped/trace.h"
#include "core/net/zmq/spoke.h"
#include "core/round/common/session/conversation.h"
#include "core/service/machine_loop.h"
#include "core/service/metrics/metrics.h"
#include "core/service/metrics/note_log.h"
#include "core/service/metrics/repeated_metrics.h"
#include "core/service/peer_link.h"
#include "core/service/service_manager.h"
#include "core/service/stop_signals.h"
#include "core/service/worker.h"
#include "core/store/agent/agent_journal.h"
#include "core/train/trainer_metrics.h"
#include "core/train/training_job.h"
#include "edge_agent/auditor.h"
#include "edge_agent/told_links.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

constexpr std::string_view kComponent = "agent";
constexpr TimeNs kLookEveryNs = 50 * kNsPerMs;
constexpr TimeNs kMetricsEveryNs = 1'000 * kNsPerMs;
constexpr TimeNs kMeasureDeviceEveryNs = 30 * 60 * 1'000 * kNsPerMs;  // it may be hot by then

// Whether there is nothing more to do of a job, and how many rounds it had.
struct JobEnd {
  bool over = false;
  bool stopped = false;  // before its last round
  std::uint64_t rounds = 0;
};

JobEnd end_of(const AgentJobRecord& record) {
  JobEnd end{
      .over = record.state == wire::JobState::finished || record.state == wire::JobState::stopped,
      .stopped = record.state == wire::JobState::stopped};
  if (!record.definition) return end;
  const Result<const wire::Frame*> frame = open_frame(*record.definition);
  if (frame.ok() && (*frame)->message_as_Job()) end.rounds = (*frame)->message_as_Job()->rounds();
  return end;
}

// A line that follows the trace in this file, and lets nothing through at once.
Result<ShapedOptions> shape_of(const std::string& trace_file) {
  ShapedOptions shape;
  shape.out.burst_bytes = shape.in.burst_bytes = 0;
  shape.in.stream = 1;
  if (trace_file.empty()) return shape;
  TRIBUTARY_ASSIGN(LinkTrace trace, LinkTrace::read(trace_file));
  shape.trace = std::make_shared<const LinkTrace>(std::move(trace));
  return shape;
}

class AgentDaemon {
 public:
  AgentDaemon(const AgentSettings& settings, const OpenMpi& open_mpi)
      : settings_(settings), open_mpi_(open_mpi) {}
  ~AgentDaemon();
  AgentDaemon(const AgentDaemon&) = delete;
  AgentDaemon& operator=(const AgentDaemon&) = delete;

  Status open();
  Status run();

 private:
  Status open_link(const std::shared_ptr<const KeyPair>& keys);
  Status open_peers(std::shared_ptr<const KeyPair> keys);
  Result<std::unique_ptr<PeerPort>> open_peer_port();
  Actions handle(TimeNs now, Event event);
  void carry_out(Action& action);
  void carry_out_among_peers(Action& action);
  void store(StoreAgent& wanted);
  void stored(const AgentRecordToStore& record);
  void train(const Train& wanted);
  Status prepare_trainer();
  void log_trained(const Train& wanted, const TrainedUpdate& trained);
  void log_evaluation(std::uint64_t version, const Evaluation& evaluation);
  void evaluate_last_model();
  void log_audit();
  void look_around();
  void export_metrics();
  void look_at_peers();
  void tell_links();
  void measure_device();
  bool everything_done() const;

  const AgentSettings& settings_;
  const OpenMpi& open_mpi_;
  SystemClock clock_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<NoteLog> notes_;
  std::unique_ptr<AgentJournal> journal_;
  std::unique_ptr<Transport> link_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Agent> machine_;
  std::unique_ptr<Auditor> auditor_;  // null: not wanted
  std::atomic<double> conservation_error_ = -1;
  std::unique_ptr<MachineLoop> loop_;
  std::unique_ptr<PeerLink> peers_;         // null: it listens to none
  std::unique_ptr<Worker> journal_thread_;  // these end before the loop that they answer to
  std::unique_ptr<Worker> trainer_thread_;
  std::unique_ptr<StopSignals> signals_;

  std::mutex definition_mutex_;
  SharedBytes definition_;  // of the job, as it was stored last
  SharedBytes prepared_;    // that the trainer knows; its thread's

  bool last_evaluated_ = false;
  std::atomic<bool> evaluating_ = false;
  std::atomic<bool> ending_ = false;

  std::atomic<bool> job_over_ = false;
  std::atomic<std::uint64_t> job_rounds_ = 0;
  ToldLinks told_links_;
  Status failed_;
  bool finished_ = false;
  bool stopping_ = false;
  TimeNs stop_at_ns_ = kNever;
  TimeNs look_at_ns_ = 0;
  TimeNs metrics_at_ns_ = 0;
  TimeNs measure_device_at_ns_ = 0;
};

AgentDaemon::~AgentDaemon() {
  ending_ = true;
  if (trainer_) trainer_->cancel();
}

Status AgentDaemon::open() {
  TRIBUTARY_ASSIGN(const LogOptions log_options, settings_.common.log_options());
  log_ = make_stream_log(log_options);
  TRIBUTARY_ASSIGN(metrics_, open_metrics(settings_.common.metrics_listen));
  if (!metrics_->endpoint().empty()) {
    log_->info(kComponent, "metrics", {{"endpoint", metrics_->endpoint()}});
  }
  notes_ = std::make_unique<NoteLog>(*log_, clock_, *metrics_);
  TRIBUTARY_ASSIGN(journal_,
                   AgentJournal::open({.path = settings_.journal, .sync = settings_.journal_sync}));
  TRIBUTARY_ASSIGN(AgentState state, journal_->restore());
  if (state.job) stored(*state.job);
  if (state.replica) {
    log_->info(kComponent, "replica restored",
               {{"job", state.replica->job},
                {"model_version", state.replica->model_version},
                {"undecided_rounds", state.undecided.size()}});
  }
  Result<KeyPair> keys = settings_.keys ? Result<KeyPair>(*settings_.keys)
                                        : keys_for(settings_.key_file, settings_.encrypted);
  if (!keys.ok()) return std::move(keys).status();
  const auto own_keys = std::make_shared<const KeyPair>(*std::move(keys));
  TRIBUTARY_TRY(open_link(own_keys));
  TRIBUTARY_TRY(open_peers(own_keys));
  TRIBUTARY_ASSIGN(trainer_, make_trainer(settings_.trainer, settings_.training));

  if (settings_.audit) auditor_ = std::make_unique<Auditor>();

  AgentConfig config = settings_.machine;
  if (peers_) config.endpoints = {peers_->endpoint()};
  TRIBUTARY_ASSIGN(config.incarnation, draw_incarnation());
  config.stopwatch = [this] { return clock_.now().count(); };
  TRIBUTARY_ASSIGN(machine_, Agent::make(std::move(config), std::move(state)));
  loop_ = std::make_unique<MachineLoop>(
      LoopParts{.handle = [this](TimeNs now, Event event) { return handle(now, std::move(event)); },
                .next_wakeup_ns = [this] { return machine_->next_wakeup_ns(); },
                .carry_out = [this](Action& action) { carry_out(action); },
                .one_peer = true,
                .link = *link_,
                .clock = clock_,
                .notes = *notes_});
  journal_thread_ = std::make_unique<Worker>();
  trainer_thread_ = std::make_unique<Worker>();
  TRIBUTARY_ASSIGN(signals_, StopSignals::open([this](int signal) {
                     if (signal != SIGHUP) loop_->post(Shutdown{.reason = "stopped by a signal"});
                   }));
  return {};
}

Status AgentDaemon::open_link(const std::shared_ptr<const KeyPair>& keys) {
  PublicKey hub;
  if (settings_.encrypted) {
    TRIBUTARY_ASSIGN(hub, parse_public_key(settings_.coordinator_key));
  }
  TRIBUTARY_ASSIGN(const std::uint64_t seed, draw_incarnation());
  TRIBUTARY_ASSIGN(link_, open_spoke({.endpoint = settings_.coordinator,
                                      .keys = *keys,
                                      .hub = hub,
                                      .encrypted = settings_.encrypted,
                                      .seed = seed}));
  if (settings_.shape_bytes_per_s == 0 && settings_.shape_trace.empty()) return {};
  TRIBUTARY_ASSIGN(ShapedOptions shape, shape_of(settings_.shape_trace));
  shape.out.seed = shape.in.seed = seed;
  shape.out.bytes_per_s = settings_.shape_bytes_per_s;
  shape.out.burst_bytes = shape.in.burst_bytes = settings_.shape_burst_bytes;
  TRIBUTARY_ASSIGN(link_, make_shaped(std::move(link_), clock_, shape));
  return {};
}

Result<std::unique_ptr<PeerPort>> AgentDaemon::open_peer_port() {
  const bool mpi = settings_.peers_transport == PeerTransport::mpi;
  TRIBUTARY_ASSIGN(
      std::unique_ptr<PeerPort> port,
      mpi ? open_mpi_(clock_)
          : open_tcp_peer_port(settings_.peers_endpoint, settings_.peers_advertise, clock_));
  if (settings_.peers_shape_trace.empty()) return port;
  TRIBUTARY_ASSIGN(const ShapedOptions shape, shape_of(settings_.peers_shape_trace));
  return make_shaped_peer_port(std::move(port), clock_, shape);
}

Status AgentDaemon::open_peers(std::shared_ptr<const KeyPair> keys) {
  const bool mpi = settings_.peers_transport == PeerTransport::mpi;
  if (!mpi && settings_.peers_endpoint.empty()) return {};
  TRIBUTARY_ASSIGN(std::unique_ptr<PeerPort> port, open_peer_port());
  if (mpi || !settings_.encrypted) keys = nullptr;
  peers_ = PeerLink::make_over(std::move(port), {.endpoint = {}, .keys = std::move(keys)}, clock_,
                               [this](Event event, std::shared_ptr<const void> owner) {
                                 loop_->post(std::move(event), std::move(owner));
                               });
  if (mpi) {
    log_->warning(kComponent, "peers are not encrypted: MPI has no encryption",
                  {{"endpoint", peers_->endpoint()}});
  } else {
    log_->info(kComponent, "listens for peers", {{"endpoint", peers_->endpoint()}});
  }
  return {};
}

Actions AgentDaemon::handle(TimeNs now, Event event) {
  if (const auto* shutdown = std::get_if<Shutdown>(&event)) {
    stopping_ = true;
    stop_at_ns_ = now + settings_.common.stop_grace_ms * kNsPerMs;
    log_->info(kComponent, "stopping", {{"reason", shutdown->reason}});
    ignore_error(tell_service_manager("STOPPING=1"));
  }
  if (!auditor_) return machine_->handle(now, std::move(event));
  auditor_->before(event);
  Actions actions = machine_->handle(now, std::move(event));
  auditor_->after(actions, *machine_);
  conservation_error_ = auditor_->error_max().value_or(-1);
  return actions;
}

// How an account stands in the end; an error that was found is said again.
void AgentDaemon::log_audit() {
  if (!auditor_) return;
  if (!auditor_->status().ok()) {
    log_->error(kComponent, "conservation violated", {{"error", auditor_->status().text()}});
  } else if (const std::optional<double> error = auditor_->error_max()) {
    log_->info(kComponent, "conservation holds", {{"error_of_bound", *error}});
  } else {
    log_->info(kComponent, "conservation not audited");
  }
}

void AgentDaemon::carry_out(Action& action) {
  if (auto* record = std::get_if<StoreAgent>(&action)) return store(*record);
  if (const auto* wanted = std::get_if<Train>(&action)) return train(*wanted);
  if (peers_) carry_out_among_peers(action);
  if (const auto* reading = std::get_if<Reading>(&action)) {
    if (count_repeated_bytes(*reading, *metrics_)) return;
    metrics_->set(fmt::format("tributary_{}", reading->name), reading->value);
  } else if (const auto* finished = std::get_if<Finished>(&action)) {
    finished_ = true;
    failed_ = finished->status;
  }
}

void AgentDaemon::carry_out_among_peers(Action& action) {
  if (auto* message = std::get_if<SendToPeer>(&action)) {
    peers_->send(std::move(*message));
  } else if (auto* epoch = std::get_if<OpenPeers>(&action)) {
    log_->info(kComponent, "peers opened",
               {{"session", epoch->session},
                {"member", epoch->member},
                {"members", epoch->members.size()}});
    peers_->open(std::move(*epoch));
  } else if (std::holds_alternative<ClosePeers>(action)) {
    peers_->close();
  }
}

void AgentDaemon::store(StoreAgent& wanted) {
  journal_thread_->post([this, wanted = std::move(wanted)]() mutable {
    Status status = journal_->store(wanted.record);
    if (status.ok()) stored(wanted.record);
    wanted.record = {};  // the machine changes in place what nobody else holds
    loop_->post(Stored{.token = wanted.token, .status = std::move(status)});
  });
}

// On the journal's thread, before the machine knows.
void AgentDaemon::stored(const AgentRecordToStore& record) {
  if (const auto* replica = std::get_if<ReplicaRecord>(&record)) {
    log_->info(kComponent, "model stored",
               {{"model_version", replica->model_version},
                {"model_hash", fmt::format("{:016x}", replica->model_hash)},
                {"updates_taken", replica->residual_stamp.updates_taken}});
  } else if (const auto* contribution = std::get_if<ContributionRecord>(&record)) {
    log_->debug(kComponent, "contribution stored",
                {{"round", contribution->id.round},
                 {"attempt", contribution->id.attempt},
                 {"buckets", contribution->parts.size()},
                 {"update_taken", contribution->residual != nullptr},
                 {"update_round", contribution->residual_stamp.update_round}});
  } else if (const auto* job = std::get_if<AgentJobRecord>(&record)) {
    const JobEnd end = end_of(*job);
    {
      const std::lock_guard lock(definition_mutex_);
      definition_ = job->definition;
    }
    job_rounds_ = end.stopped ? 0 : end.rounds;
    job_over_ = end.over;
    log_->info(kComponent, "job",
               {{"job", job->job}, {"state", wire::EnumNameJobState(job->state)}});
  }
}

void AgentDaemon::log_trained(const Train& wanted, const TrainedUpdate& trained) {
  log_->debug(kComponent, "trained",
              {{"round", wanted.id.round},
               {"loss", trained.loss},
               {"examples", trained.examples},
               {"local_steps", trained.local_steps}});
  if (trained.evaluation) log_evaluation(wanted.model_version, *trained.evaluation);
}

void AgentDaemon::log_evaluation(std::uint64_t version, const Evaluation& evaluation) {
  log_->info(kComponent, "evaluated",
             {{"model_version", version},
              {"loss", evaluation.loss},
              {"accuracy", evaluation.accuracy},
              {"examples", evaluation.examples}});
  metrics_->set("tributary_evaluation_loss", evaluation.loss);
  metrics_->set("tributary_evaluation_accuracy", evaluation.accuracy);
}

// Rounds evaluate the model that they begin with, and so never the last one.
void AgentDaemon::evaluate_last_model() {
  evaluating_ = true;
  trainer_thread_->post([this, model = machine_->model(), version = machine_->model_version()] {
    if (prepared_ && model) {
      const Result<std::optional<Evaluation>> evaluation = trainer_->evaluate(*model);
      if (!evaluation.ok()) {
        log_->error(kComponent, "evaluation failed", {{"error", evaluation.status().text()}});
      } else if (*evaluation) {
        log_evaluation(version, **evaluation);
      }
    }
    evaluating_ = false;
  });
}

// On the trainer's thread. What does not fit is said again with every round, until somebody mends
// it.
Status AgentDaemon::prepare_trainer() {
  SharedBytes definition;
  {
    const std::lock_guard lock(definition_mutex_);
    definition = definition_;
  }
  if (!definition || definition == prepared_) return {};
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*definition));
  const wire::Job* job = frame->message_as_Job();
  if (!job) return Status(StatusCode::corrupt_data, {.what = "definition of the job"});
  TRIBUTARY_ASSIGN(const TrainingJob training, training_job(*job));
  TRIBUTARY_TRY(trainer_->prepare(training));
  prepared_ = std::move(definition);
  return {};
}

void AgentDaemon::train(const Train& wanted) {
  log_->debug(kComponent, "training", {{"round", wanted.id.round}});
  trainer_thread_->post([this, wanted] {
    const TimeNs began_at = loop_->now();
    if (Status status = prepare_trainer(); !status.ok()) {
      log_->error(kComponent, "cannot train", {{"error", status.text()}});
      return loop_->post(UpdateFailed{.token = wanted.token, .status = std::move(status)});
    }
    const auto part_ready = [this, token = wanted.token](
                                std::uint64_t first, const std::shared_ptr<FloatVector>& update) {
      loop_->post(UpdatePart{.token = token, .first_value = first, .update = update});
    };
    Result<TrainedUpdate> trained = trainer_->train({.round = wanted.training,
                                                     .model = *wanted.model,
                                                     .local_steps = wanted.local_steps,
                                                     .learning_rate = wanted.learning_rate,
                                                     .seed = wanted.seed,
                                                     .evaluate = wanted.evaluate,
                                                     .part_ready = part_ready});
    if (!trained.ok()) {
      log_->error(kComponent, "training failed", {{"error", trained.status().text()}});
      return loop_->post(UpdateFailed{.token = wanted.token, .status = trained.status()});
    }
    log_trained(wanted, *trained);
    std::vector<AgentMetric> metrics;
    if (trained->evaluation) metrics = metrics_of(*trained->evaluation);
    if (const double error = conservation_error_; error >= 0) {
      metrics.push_back({.name = "conservation_error", .value = error});
    }
    loop_->post(UpdateReady{.token = wanted.token,
                            .update = std::move(trained->update),
                            .loss = trained->loss,
                            .examples = trained->examples,
                            .local_steps = trained->local_steps,
                            .compute_s = static_cast<double>(loop_->now() - began_at) / 1e9,
                            .metrics = std::move(metrics)});
  });
}

void AgentDaemon::export_metrics() {
  const LinkCounters counters = link_->counters();
  metrics_->set("tributary_connected", machine_->connected() ? 1 : 0);
  metrics_->set("tributary_model_version", static_cast<double>(machine_->model_version()));
  metrics_->set("tributary_buffered_bytes", static_cast<double>(machine_->buffered_bytes()));
  metrics_->set("tributary_link_in_bytes", static_cast<double>(counters.bytes_in));
  metrics_->set("tributary_link_out_bytes", static_cast<double>(counters.bytes_out));
  if (peers_) look_at_peers();
}

void AgentDaemon::look_at_peers() {
  const PeerLinkCounters counters = peers_->counters();
  metrics_->set("tributary_peers_in_bytes", static_cast<double>(counters.bytes_in));
  metrics_->set("tributary_peers_out_bytes", static_cast<double>(counters.bytes_out));
  for (const MeshRefused& refused : peers_->take_refused()) {
    notes_->note({.level = LogLevel::warning,
                  .name = "peer_refused",
                  .reason = name(refused.why.code()),
                  .source = refused.source.substr(0, refused.source.rfind(':')),
                  .text = refused.why.text()});
  }
}

// What the exchanges with peers have shown of the ways from them: two samples for each, since its
// latency and its rate are known from other readings.
void AgentDaemon::tell_links() {
  if (!peers_) return;
  TellLinks told;
  for (const PeerMeasured& peer : peers_->take_measured(kLinksToldMax / 2)) {
    if (!told_links_.due(loop_->now(), peer)) continue;
    const auto add = [&](const LinkQuantity& quantity, double wire::LinkSampleT::*figure) {
      if (!quantity.known()) return;
      wire::LinkSampleT& sample = told.links.emplace_back();
      sample.from = peer.agent_id;
      sample.method = wire::LinkMethod::passive;
      sample.*figure = quantity.value;
      sample.confidence = static_cast<float>(quantity.confidence);
      sample.age_ms = static_cast<std::uint32_t>(std::min(quantity.age_s * 1e3, 4e9));
    };
    add(peer.link.alpha_s, &wire::LinkSampleT::alpha_s);
    add(peer.link.beta_s_per_byte, &wire::LinkSampleT::beta_s_per_byte);
  }
  if (told.links.empty()) return;
  metrics_->set("tributary_peer_link_figures_told", static_cast<double>(told.links.size()));
  loop_->feed(std::move(told));
}

// On the trainer's thread, so that neither slows the other down.
void AgentDaemon::measure_device() {
  measure_device_at_ns_ = loop_->now() + kMeasureDeviceEveryNs;
  trainer_thread_->post([this] {
    TellSpeeds told;
    for (DeviceSpeed& speed : tributary::measure_device(clock_, [this] { return !ending_; })) {
      wire::CodecOfferT& offer = told.codecs.emplace_back();
      offer.spec = std::move(speed.family);
      offer.encode_bytes_per_s = speed.encode_bytes_per_s;
      offer.aggregate_bytes_per_s = speed.aggregate_bytes_per_s;
      offer.decode_bytes_per_s = speed.decode_bytes_per_s;
    }
    log_->debug(kComponent, "device measured", {{"codecs", told.codecs.size()}});
    loop_->post(std::move(told));
  });
}

// The job is over, its last model is applied, and nothing of it is open.
bool AgentDaemon::everything_done() const {
  return job_over_ && machine_->model_version() >= job_rounds_ && machine_->idle() &&
         machine_->undecided().empty();
}

void AgentDaemon::look_around() {
  const TimeNs now = loop_->now();
  if (now < look_at_ns_) return;
  look_at_ns_ = now + kLookEveryNs;
  if (!job_over_) last_evaluated_ = false;
  if (!last_evaluated_ && everything_done()) {
    last_evaluated_ = true;
    evaluate_last_model();
  }
  if (settings_.exit_when_done && !stopping_ && !evaluating_ && everything_done()) {
    loop_->feed(Shutdown{.reason = "the job is done"});
  }
  if (stopping_ && (machine_->idle() || now >= stop_at_ns_)) finished_ = true;
  if (now < metrics_at_ns_) return;
  metrics_at_ns_ = now + kMetricsEveryNs;
  export_metrics();
  tell_links();
  if (now >= measure_device_at_ns_) measure_device();
}

Status AgentDaemon::run() {
  log_->info(kComponent, "started",
             {{"agent_id", settings_.machine.agent_id},
              {"coordinator", settings_.coordinator},
              {"encrypted", settings_.encrypted}});
  if (Status status = tell_service_manager("READY=1"); !status.ok()) {
    log_->warning(kComponent, "service manager", {{"error", status.text()}});
  }
  while (!finished_ && failed_.ok()) {
    TRIBUTARY_TRY(loop_->turn(look_at_ns_).status());
    look_around();
  }
  log_audit();
  log_->info(kComponent, "stopped", {{"model_version", machine_->model_version()}});
  return failed_;
}

}  // namespace

Result<std::unique_ptr<PeerPort>> without_mpi(const Clock&) {
  return Status(StatusCode::unsupported,
                {.what = "peers.transport",
                 .expected = "tcp, as this program has no MPI",
                 .got = "mpi",
                 .remedy = "have mpirun start tributary-agent-mpi, which is built where "
                           "libopenmpi-dev and openmpi-bin are installed"});
}

Status run_agent(const AgentSettings& settings, const OpenMpi& open_mpi) {
  AgentDaemon daemon(settings, open_mpi);
  TRIBUTARY_TRY(daemon.open());
  return daemon.run();
}

}  // namespace tributary
