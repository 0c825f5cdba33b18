#include "coordinator/daemon.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/evaluation/evaluations.h"
#include "coordinator/links/link_figures.h"
#include "coordinator/links/link_probes.h"
#include "coordinator/operators/allow_file.h"
#include "coordinator/operators/control_desk.h"
#include "coordinator/planning/last_decision.h"
#include "coordinator/planning/plan_desk.h"
#include "coordinator/planning/plan_lines.h"
#include "coordinator/telemetry/chronicle.h"
#include "coordinator/watch_port.h"
#include "core/base/log/log.h"
#include "core/cost/device_speed.h"
#include "core/net/zmq/control.h"
#include "core/net/zmq/hub.h"
#include "core/plan/search/measured_codecs.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/session/conversation.h"
#include "core/service/machine_loop.h"
#include "core/service/metrics/metrics.h"
#include "core/service/metrics/note_log.h"
#include "core/service/metrics/repeated_metrics.h"
#include "core/service/service_manager.h"
#include "core/service/stop_signals.h"
#include "core/service/worker.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/readable.h"
#include "core/store/coordinator/run_file.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

constexpr std::string_view kComponent = "coordinator";
constexpr TimeNs kLookEveryNs = 50 * kNsPerMs;
constexpr TimeNs kMetricsEveryNs = 1'000 * kNsPerMs;
constexpr std::uint32_t kKeepGaugesOnceIn = 10;  // times that they are exported
constexpr Token kFirstCommand = 2;               // of operators; 1 is the daemon's own

double seconds_of(TimeNs time) { return static_cast<double>(time) / 1e9; }

bool is_to_be_planned(const JobRecord& job) {
  const bool goes_on =
      job.state != wire::JobState::finished && job.state != wire::JobState::stopped;
  return goes_on && job.policy.planning.planned();
}

class CoordinatorDaemon {
 public:
  explicit CoordinatorDaemon(const CoordinatorSettings& settings)
      : settings_(settings),
        allowed_(settings.encrypted ? settings.allow_file : "", "agents"),
        watchers_(settings.encrypted ? settings.watch_allow_file : "", "watchers") {}
  ~CoordinatorDaemon();
  CoordinatorDaemon(const CoordinatorDaemon&) = delete;
  CoordinatorDaemon& operator=(const CoordinatorDaemon&) = delete;

  Status open();
  Status run();

 private:
  Status open_link();
  Status open_control();
  Status submit_job(const CoordinatorState& state);
  void carry_out(Action& action);
  void store(StoreCoordinator& wanted);
  void load(const LoadRound& wanted);
  void stored(const CoordinatorRecord& record, const Status& status);
  void take_reading(const Reading& reading);
  // False: it is about something else.
  bool count_message_bytes(const Reading& reading);
  void prepare_planner(const JobRecord& job);
  Result<std::vector<PlanCodec>> measure_codecs(std::uint32_t agents,
                                                const std::function<bool()>& go_on);
  DeviceSpeeds measure_own_speeds(const std::function<bool()>& go_on);
  void resume_plan(const JobRecord& job);
  void take_echo(const ProbeEchoed& echo);
  void probe_links();
  void on_signal(int signal);
  void export_metrics();
  void gauge(std::string_view name, double value);
  void keep_chronicle();
  void keep(const TelemetryRows& rows);
  bool everything_done();
  void look_around();
  Actions handle(TimeNs now, const Event& event);

  const CoordinatorSettings& settings_;
  SystemClock clock_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<NoteLog> notes_;
  Chronicle chronicle_{clock_};
  std::unique_ptr<CoordinatorJournal> journal_;
  AllowFile allowed_;
  AllowFile watchers_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<Coordinator> machine_;
  std::unique_ptr<MachineLoop> loop_;
  std::unique_ptr<Worker> journal_thread_;    // ends before the loop that it answers to
  std::unique_ptr<Evaluations> evaluations_;  // null: no test set here
  std::unique_ptr<LinkFigures> link_figures_;
  std::optional<LinkProbes> probes_;  // nothing: links are not probed
  std::unique_ptr<PlanDesk> planner_;
  std::unique_ptr<ControlDesk> desk_;
  std::unique_ptr<ControlServer> control_;  // these end before the desk
  std::unique_ptr<WatchServer> watch_;      // null: nobody watches from elsewhere
  std::unique_ptr<StopSignals> signals_;

  Status failed_;
  bool finished_ = false;
  bool stopping_ = false;
  TimeNs stop_at_ns_ = kNever;
  TimeNs done_since_ns_ = kNever;
  TimeNs look_at_ns_ = 0;
  TimeNs metrics_at_ns_ = 0;
  std::uint32_t until_gauges_kept_ = 0;
  bool keep_gauges_ = false;
  std::atomic<bool> keeping_ = false;  // rows are on their way to the journal:
  TelemetryRows under_way_;            // these
  bool keeping_failed_ = false;        // the journal's thread
};

// Whoever still waits for an answer is told that none comes.
CoordinatorDaemon::~CoordinatorDaemon() {
  if (desk_) desk_->close();
}

Status CoordinatorDaemon::open() {
  TRIBUTARY_ASSIGN(const LogOptions log_options, settings_.common.log_options());
  log_ = make_stream_log(log_options);
  TRIBUTARY_ASSIGN(metrics_, open_metrics(settings_.common.metrics_listen));
  if (!metrics_->endpoint().empty()) {
    log_->info(kComponent, "metrics", {{"endpoint", metrics_->endpoint()}});
  }
  notes_ = std::make_unique<NoteLog>(*log_, clock_, *metrics_,
                                     [this](const Note& note) { chronicle_.event(note); });
  TRIBUTARY_ASSIGN(journal_, CoordinatorJournal::open({.journal = {.path = settings_.journal,
                                                                   .sync = settings_.journal_sync},
                                                       .retention = settings_.retention}));
  TRIBUTARY_ASSIGN(CoordinatorState state, journal_->restore());
  for (const RestoredJob& job : state.jobs) {
    const std::uint64_t version =
        job.redo.empty() ? job.checkpoint.model_version : job.redo.back().round.id.round;
    log_->info(kComponent, "job restored", {{"job", job.job.job}, {"rounds_committed", version}});
  }
  TRIBUTARY_TRY(open_link());

  CoordinatorConfig config = settings_.machine;
  TRIBUTARY_ASSIGN(config.incarnation, draw_incarnation());
  // The machine takes the state; the journal's answer about jobs is needed once more.
  const CoordinatorState restored = state;
  TRIBUTARY_ASSIGN(machine_, Coordinator::make(std::move(config), std::move(state)));
  loop_ = std::make_unique<MachineLoop>(
      LoopParts{.handle = [this](TimeNs now, const Event& event) { return handle(now, event); },
                .next_wakeup_ns = [this] { return machine_->next_wakeup_ns(); },
                .carry_out = [this](Action& action) { carry_out(action); },
                .id_of = [this](const PublicKey& key) -> std::string {
                  return settings_.encrypted ? allowed_.list()->id_of(key) : std::string();
                },
                .link = *hub_,
                .clock = clock_,
                .notes = *notes_});
  journal_thread_ = std::make_unique<Worker>();
  link_figures_ = std::make_unique<LinkFigures>(clock_, *metrics_, chronicle_);
  planner_ = std::make_unique<PlanDesk>(PlanDeskParts{
      .lines =
          [this](const std::vector<std::string>& agents) {
            return plan_lines(*link_figures_, agents, seconds_of(loop_->now()));
          },
      .advise = [this](PlanAdvised advised) { loop_->post(std::move(advised)); },
      .codecs = [this](
                    std::uint32_t agents,
                    const std::function<bool()>& go_on) { return measure_codecs(agents, go_on); },
      .own_speeds =
          [this](const std::function<bool()>& go_on) { return measure_own_speeds(go_on); },
      .clock = clock_,
      .log = *log_});
  for (const RestoredJob& job : restored.jobs) {
    resume_plan(job.job);
    prepare_planner(job.job);
  }
  if (settings_.probes) {
    TRIBUTARY_ASSIGN(const std::uint64_t first_probe, draw_incarnation());
    probes_.emplace(first_probe, LinkProbes::Options{
                                     .prober = {.quiet_s = settings_.probes_quiet_ms / 1e3,
                                                .spacing_s = settings_.probes_spacing_ms / 1e3}});
  }
  TRIBUTARY_ASSIGN(evaluations_,
                   Evaluations::open(settings_.evaluation, {*log_, *metrics_, chronicle_}));
  TRIBUTARY_TRY(open_control());
  TRIBUTARY_ASSIGN(signals_, StopSignals::open([this](int signal) { on_signal(signal); }));
  return submit_job(restored);
}

Status CoordinatorDaemon::open_link() {
  TRIBUTARY_ASSIGN(KeyPair keys, keys_for(settings_.key_file, settings_.encrypted));
  if (settings_.encrypted) {
    TRIBUTARY_TRY(allowed_.read());
  } else {
    log_->warning(kComponent, "encryption is off: whoever reaches the port is who it says it is");
  }
  TRIBUTARY_ASSIGN(std::shared_ptr<LinkContext> context,
                   LinkContext::open({.io_threads = settings_.io_threads,
                                      .sockets_max = settings_.connections_max,
                                      .clock = &clock_}));
  LinkLimits limits;
  limits.send_queue_bytes = settings_.send_queue_bytes;
  TRIBUTARY_ASSIGN(hub_, open_hub({.endpoint = settings_.endpoint,
                                   .keys = std::move(keys),
                                   .allowed = settings_.encrypted ? allowed_.list() : nullptr,
                                   .encrypted = settings_.encrypted,
                                   .limits = limits,
                                   .context = std::move(context)}));
  return {};
}

Status CoordinatorDaemon::open_control() {
  desk_ = std::make_unique<ControlDesk>(
      ControlDesk::Machine{.jobs = [this] { return machine_->jobs(); },
                           .agents = [this] { return machine_->agents(); }},
      ControlDesk::Agents{
          .allow = [this](const AllowedAgent& agent) { return allowed_.allow(agent); },
          .revoke = [this](const std::string& id) { return allowed_.revoke(id); }},
      kFirstCommand);
  const auto ask = [this](std::string_view question) { return desk_->answer(question); };
  if (settings_.control) {
    TRIBUTARY_ASSIGN(control_, ControlServer::open(control_path(settings_.journal), ask));
  }
  TRIBUTARY_ASSIGN(watch_, open_watch_port(settings_, watchers_, ask, clock_, *log_));
  return {};
}

Actions CoordinatorDaemon::handle(TimeNs now, const Event& event) {
  if (const auto* shutdown = std::get_if<Shutdown>(&event)) {
    stopping_ = true;
    stop_at_ns_ = now + settings_.common.stop_grace_ms * kNsPerMs;
    log_->info(kComponent, "stopping", {{"reason", shutdown->reason}});
    ignore_error(tell_service_manager("STOPPING=1"));
  }
  return machine_->handle(now, event);
}

// A job of this name that the journal has goes on instead.
Status CoordinatorDaemon::submit_job(const CoordinatorState& state) {
  if (!settings_.job) return {};
  for (const RestoredJob& job : state.jobs) {
    TRIBUTARY_ASSIGN(const auto model, JobModel::make(job.job.definition));
    if (model->wire().name()->string_view() == settings_.job->name) return {};
  }
  TRIBUTARY_ASSIGN(SubmitJob submit, submission(*settings_.job));
  submit.command = kFirstCommand - 1;
  loop_->post(std::move(submit));
  return {};
}

void CoordinatorDaemon::carry_out(Action& action) {
  if (auto* record = std::get_if<StoreCoordinator>(&action)) return store(*record);
  if (const auto* wanted = std::get_if<LoadRound>(&action)) return load(*wanted);
  if (const auto* reading = std::get_if<Reading>(&action)) return take_reading(*reading);
  if (const auto* echo = std::get_if<ProbeEchoed>(&action)) return take_echo(*echo);
  if (const auto* told = std::get_if<LinksTold>(&action)) return link_figures_->told(*told);
  if (const auto* told = std::get_if<SpeedsTold>(&action)) return planner_->told(*told);
  if (const auto* report = std::get_if<AgentReported>(&action)) return planner_->reported(*report);
  if (const auto* round = std::get_if<RoundPlayed>(&action)) return planner_->played(*round);
  if (const auto* done = std::get_if<CommandDone>(&action)) {
    if (done->status.ok()) {
      log_->info(kComponent, "job changed", {{"job", done->job}});
    }
    if (desk_ && desk_->done(*done)) return;
    failed_ = done->status;
  } else if (const auto* finished = std::get_if<Finished>(&action)) {
    finished_ = true;
    failed_ = finished->status;
  }
}

void CoordinatorDaemon::prepare_planner(const JobRecord& job) {
  if (is_to_be_planned(job)) planner_->prepare(job.policy.agents_min);
}

// Before any round, so that the first one is as planned again. Without it rounds begin as the job
// says, and so nothing that fails here keeps a coordinator from starting.
void CoordinatorDaemon::resume_plan(const JobRecord& job) {
  if (!is_to_be_planned(job)) return;
  Result<std::unique_ptr<RunFile>> run = RunFile::open(settings_.journal);
  Result<std::optional<PlanInputs>> inputs =
      run.ok() ? last_decision(**run, job.job) : Result<std::optional<PlanInputs>>(run.status());
  if (!inputs.ok()) {
    return log_->warning(kComponent, "the last plan cannot be read",
                         {{"job", job.job}, {"error", inputs.status().text()}});
  }
  if (inputs->has_value()) planner_->resume(job.job, **std::move(inputs));
}

void CoordinatorDaemon::store(StoreCoordinator& wanted) {
  if (const auto* job = std::get_if<JobRecord>(&wanted.record)) prepare_planner(*job);
  journal_thread_->post([this, wanted = std::move(wanted)] {
    Status status = journal_->store(wanted.record);
    stored(wanted.record, status);
    loop_->post(Stored{.token = wanted.token, .status = std::move(status)});
    journal_->rest();
  });
}

void CoordinatorDaemon::load(const LoadRound& wanted) {
  journal_thread_->post([this, wanted] {
    Result<RoundLoaded> loaded = journal_->load_round(wanted);
    if (loaded.ok()) return loop_->post(std::move(*loaded));
    log_->error(kComponent, "journal cannot be read", {{"error", loaded.status().text()}});
    loop_->post(RoundLoaded{.token = wanted.token, .round = {}, .epoch = {}});
  });
}

// On the journal's thread, before the machine knows: between journal and publication.
void CoordinatorDaemon::stored(const CoordinatorRecord& record, const Status& status) {
  if (!status.ok()) return;  // the machine says so, and asks again
  if (const auto* epoch = std::get_if<EpochRecord>(&record)) {
    log_->info(kComponent, "epoch begins",
               {{"epoch", epoch->epoch}, {"agents", epoch->members.size()}});
  }
  const auto* commit = std::get_if<CommitRecord>(&record);
  if (!commit) return;
  std::uint32_t contributors = commit->round.members;
  for (const ContributorSetRecord& set : commit->round.contributor_sets) {
    contributors = std::min(contributors, set.contributors);
  }
  log_->info(kComponent, "round committed",
             {{"round", commit->round.id.round},
              {"epoch", commit->round.id.epoch},
              {"attempt", commit->round.id.attempt},
              {"collective", readable_plan(commit->round.plan).collectives.value_or("")},
              {"contributors", contributors},
              {"model_hash", fmt::format("{:016x}", commit->round.model_hash)},
              {"bytes_up", commit->round.bytes_up},
              {"bytes_down", commit->round.bytes_down},
              {"checkpoint", commit->checkpoint.has_value()}});
}

bool CoordinatorDaemon::count_message_bytes(const Reading& reading) {
  for (const MessageUseNames& names : kMessageUseNames) {
    const bool up = reading.name == names.up;
    if (!up && reading.name != names.down) continue;
    metrics_->count("tributary_message_bytes_total",
                    {{"direction", up ? "up" : "down"}, {"use", std::string(names.name)}},
                    reading.value);
    return true;
  }
  return false;
}

void CoordinatorDaemon::take_reading(const Reading& reading) {
  if (!reading.agent_id.empty()) {
    if (std::ranges::find(kAgentMetrics, reading.name) != kAgentMetrics.end()) {
      return chronicle_.metric(reading);
    }
    if (reading.name == "uplink_s_per_byte") {
      return link_figures_->uplink(reading.agent_id, reading.value);
    }
    if (reading.name == "uplink_s_per_byte_of_few") {
      return link_figures_->uplink_of_few(reading.agent_id, reading.value);
    }
    if (reading.name == "uplink_s_per_byte_at_most") {
      return link_figures_->uplink_at_most(reading.agent_id, reading.value);
    }
    if (reading.name == "round_trip_s") link_figures_->round_trip(reading.agent_id, reading.value);
    return;
  }
  chronicle_.metric(reading);
  if (count_message_bytes(reading) || count_repeated_bytes(reading, *metrics_)) return;
  metrics_->set(fmt::format("tributary_{}", reading.name), reading.value);
  if (reading.name != "round_s") return;
  metrics_->count("tributary_rounds_committed_total");
  metrics_->count("tributary_round_s_total", {}, reading.value);
  link_figures_->round_published(reading, hub_->counters());
  log_->info(kComponent, "round published", {{"round", reading.round}, {"seconds", reading.value}});
  if (evaluations_) {
    evaluations_->committed({.job = reading.job,
                             .version = reading.round,
                             .definition = machine_->definition_of(reading.job),
                             .model = machine_->model_of(reading.job)});
  }
}

// On the planner's thread.
Result<std::vector<PlanCodec>> CoordinatorDaemon::measure_codecs(
    std::uint32_t agents, const std::function<bool()>& go_on) {
  std::vector<PlanCodec> codecs;
  for (const std::string_view spec : kPlannedCodecs) {
    TRIBUTARY_ASSIGN(PlanCodec codec,
                     measure_plan_codec(spec, {.agents = agents, .go_on = go_on}, clock_));
    codecs.push_back(std::move(codec));
  }
  return codecs;
}

DeviceSpeeds CoordinatorDaemon::measure_own_speeds(const std::function<bool()>& go_on) {
  DeviceSpeeds speeds;
  for (const DeviceSpeed& one : measure_device(clock_, go_on)) {
    speeds[one.family] = {one.encode_bytes_per_s, one.decode_bytes_per_s};
  }
  return speeds;
}

void CoordinatorDaemon::take_echo(const ProbeEchoed& echo) {
  if (!probes_) return link_figures_->echo_ignored(EchoFault::unasked);
  const LinkProbes::Outcome outcome = probes_->take(seconds_of(loop_->now()), echo);
  if (const auto* reading = std::get_if<LinkProbes::Reading>(&outcome)) {
    link_figures_->probed(echo.agent_id, *reading);
  } else if (const auto* fault = std::get_if<EchoFault>(&outcome)) {
    link_figures_->echo_ignored(*fault);
  }
}

void CoordinatorDaemon::probe_links() {
  if (!probes_ || stopping_) return;
  const std::vector<ProbeLink> due =
      probes_->due(seconds_of(loop_->now()), machine_->agents(),
                   [this](const std::string& agent_id) { return link_figures_->ways(agent_id); });
  link_figures_->probes_sent(due, probes_->given_up());
  for (const ProbeLink& probe : due) loop_->feed(probe);
}

void CoordinatorDaemon::on_signal(int signal) {
  if (signal != SIGHUP) {
    loop_->post(Shutdown{.reason = "stopped by a signal"});
    return;
  }
  allowed_.read_again(*log_);
  if (watch_) watchers_.read_again(*log_);
}

void CoordinatorDaemon::export_metrics() {
  const LinkCounters counters = hub_->counters();
  const auto agents = machine_->agents();
  keep_gauges_ = until_gauges_kept_ == 0;
  until_gauges_kept_ = keep_gauges_ ? kKeepGaugesOnceIn - 1 : until_gauges_kept_ - 1;
  gauge("agents", static_cast<double>(agents.size()));
  gauge("model_version", static_cast<double>(machine_->model_version()));
  gauge("buffered_bytes", static_cast<double>(machine_->buffered_bytes()));
  gauge("link_in_bytes", static_cast<double>(counters.bytes_in));
  gauge("link_out_bytes", static_cast<double>(counters.bytes_out));
  gauge("link_in_messages", static_cast<double>(counters.messages_in));
  gauge("link_out_messages", static_cast<double>(counters.messages_out));
  gauge("sends_dropped", static_cast<double>(loop_->sends_dropped()));
  gauge("telemetry_rows_dropped", static_cast<double>(chronicle_.dropped()));
  link_figures_->count_refusals(counters);
  if (watch_) export_watch_metrics(*watch_, *metrics_);
}

void CoordinatorDaemon::gauge(std::string_view name, double value) {
  metrics_->set(fmt::format("tributary_{}", name), value);
  if (keep_gauges_) chronicle_.metric({.name = name, .value = value});
}

// One bundle at a time: while the disk is slow, rows gather until there is no more room for them.
void CoordinatorDaemon::keep_chronicle() {
  if (keeping_) return;
  under_way_ = chronicle_.take();
  if (under_way_.size() == 0) return;
  keeping_ = true;
  journal_thread_->post([this] {
    keep(under_way_);
    keeping_ = false;
  });
}

// Rounds do not depend on these rows: what cannot be stored is lost, and said once.
void CoordinatorDaemon::keep(const TelemetryRows& rows) {
  if (rows.size() == 0) return;
  const Status status = journal_->add(rows);
  if (!status.ok() && !keeping_failed_) {
    log_->warning(kComponent, "events and metrics are not kept", {{"error", status.text()}});
  }
  keeping_failed_ = !status.ok();
}

// Every job is over, and whoever is there has its last model, or has had the time to get it.
bool CoordinatorDaemon::everything_done() {
  const auto jobs = machine_->jobs();
  const bool over = !jobs.empty() && std::ranges::all_of(jobs, [](const Coordinator::JobView& job) {
    return job.state == wire::JobState::finished || job.state == wire::JobState::stopped;
  });
  if (!over || (evaluations_ && !evaluations_->idle())) return false;
  if (done_since_ns_ == kNever) done_since_ns_ = loop_->now();
  if (loop_->now() - done_since_ns_ >= settings_.common.stop_grace_ms * kNsPerMs) return true;
  const auto version_of = [&](std::uint64_t number) {
    const auto job = std::ranges::find(jobs, number, &Coordinator::JobView::job);
    return job == jobs.end() ? 0 : job->rounds_committed;
  };
  return machine_->idle() &&
         std::ranges::all_of(machine_->agents(), [&](const Coordinator::AgentView& agent) {
           return agent.ready && agent.model_version == version_of(agent.job);
         });
}

// What is looked after now and then, and not with every message.
void CoordinatorDaemon::look_around() {
  const TimeNs now = loop_->now();
  if (now < look_at_ns_) return;
  look_at_ns_ = now + kLookEveryNs;
  if (evaluations_) evaluations_->tell();
  if (desk_) {
    for (const Event& event : desk_->take()) loop_->feed(event);
  }
  if (settings_.exit_when_done && !stopping_ && everything_done()) {
    loop_->feed(Shutdown{.reason = "every job is done"});
  }
  if (stopping_ && (machine_->idle() || now >= stop_at_ns_)) finished_ = true;
  if (now < metrics_at_ns_) return;
  metrics_at_ns_ = now + kMetricsEveryNs;
  export_metrics();
  link_figures_->look_around();
  probe_links();
  keep_chronicle();
}

Status CoordinatorDaemon::run() {
  log_->info(kComponent, "listening",
             {{"endpoint", hub_->endpoint()}, {"encrypted", settings_.encrypted}});
  if (Status status = tell_service_manager("READY=1"); !status.ok()) {
    log_->warning(kComponent, "service manager", {{"error", status.text()}});
  }
  while (!finished_ && failed_.ok()) {
    TRIBUTARY_TRY(loop_->turn(look_at_ns_).status());
    look_around();
  }
  if (desk_) desk_->close();
  control_.reset();
  if (evaluations_) evaluations_->end();
  until_gauges_kept_ = 0;  // what was sent and received in all is kept in any case
  export_metrics();
  if (evaluations_) evaluations_->tell();
  journal_thread_.reset();
  if (keeping_) keep(under_way_);  // it did not get to them
  link_figures_->close();
  keep(chronicle_.take());
  log_->info(kComponent, "stopped", {{"model_version", machine_->model_version()}});
  return failed_;
}

}  // namespace

Status run_coordinator(const CoordinatorSettings& settings) {
  CoordinatorDaemon daemon(settings);
  TRIBUTARY_TRY(daemon.open());
  return daemon.run();
}

}  // namespace tributary
