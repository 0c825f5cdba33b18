#include "coordinator/daemon.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/coordinator_storage.h"
#include "coordinator/evaluation/evaluations.h"
#include "coordinator/gauges.h"
#include "coordinator/journal/stop_progress.h"
#include "coordinator/links/link_watch.h"
#include "coordinator/operator_ports.h"
#include "coordinator/operators/allow_file.h"
#include "coordinator/planning/own_measurements.h"
#include "coordinator/planning/plan_links.h"
#include "coordinator/planning/plan_service.h"
#include "coordinator/planning/resumed_plan.h"
#include "core/base/bytes/heap.h"
#include "core/base/overloaded.h"
#include "core/base/thread_pool.h"
#include "core/job/job_rules.h"
#include "core/net/zmq/hub.h"
#include "core/plan/fusion/fusion.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/model_rule.h"
#include "core/service/daemon_end.h"
#include "core/service/daemon_outlets.h"
#include "core/service/loop/idle_memory.h"
#include "core/service/loop/machine_loop.h"
#include "core/service/metrics/reading_metrics.h"
#include "core/service/service_manager.h"
#include "core/service/stop_signals.h"

namespace tributary {
namespace {

constexpr std::string_view kComponent = "coordinator";
// Period of the tasks that are not driven by events: operators' commands, evaluations, the end.
constexpr TimeNs kLookEveryNs = 50 * kNsPerMs;
constexpr TimeNs kMetricsEveryNs = 1'000 * kNsPerMs;
constexpr Token kFirstCommand = 2;  // first number of an operator's command; 1 is the daemon's own

double seconds_of(TimeNs time) { return static_cast<double>(time) / 1e9; }

// In the heap, payloads of a large model leave gaps that grow from round to round. With a small
// one, clearing their pages would take longer than the round has.
void place_payloads(const JobRecord& job) {
  constexpr std::size_t kMappedBytesMin = std::size_t{256} << 10;
  const auto model = JobModel::make(job.definition);
  if (model.ok() && (*model)->values() * sizeof(float) >= kLargeModelBytes) {
    map_blocks_from(kMappedBytesMin);
  }
}

// A job that is over needs no plan, although its policy stays in the journal.
bool is_to_be_planned(const JobRecord& job) {
  const bool goes_on =
      job.state != wire::JobState::finished && job.state != wire::JobState::stopped;
  return goes_on && job.policy.planning.planned();
}

// Connects the state machine with everything that does I/O. All members belong to the loop's thread
// unless their own comment says otherwise. The order of the members is the reverse order of their
// destruction: a thread must end before anything that it posts to.
class CoordinatorDaemon {
 public:
  explicit CoordinatorDaemon(const CoordinatorSettings& settings)
      : settings_(settings),
        allowed_(settings.encrypted ? settings.allow_file : "", "agents"),
        end_(settings.common.stop_grace_ms * kNsPerMs) {}

  Status open();
  Status run();

 private:
  // The times at which periodic tasks are due, and their state.
  struct Schedule {
    TimeNs look_at_ns = 0;
    TimeNs metrics_at_ns = 0;
    IdleMemory idle_memory;
    Gauges gauges;
    TimeNs done_since_ns = kNever;  // time since which every job is over
  };

  Status open_link();
  Status open_links_watch();
  Status open_operator_ports();
  void open_planner(const CoordinatorState& restored);
  Status submit_job(const CoordinatorState& state);
  void execute(Action& action);
  void take_reading(const Reading& reading);
  void take_round_published(const Reading& reading, const std::string& job);
  std::string job_name(std::uint64_t job) const;
  void take_done(const CommandDone& done);
  void prepare_planner(const JobRecord& job);
  void resume_plan_of(const JobRecord& job);
  void probe_links();
  void on_signal(int signal);
  void export_metrics();
  bool everything_done();
  void run_periodic_tasks();
  Actions handle(TimeNs now, const Event& event);

  Log& log() { return outlets_->log(); }
  TelemetryBuffer& telemetry() { return storage_->telemetry(); }

  const CoordinatorSettings& settings_;
  std::unique_ptr<DaemonOutlets> outlets_;
  AllowFile allowed_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<Coordinator> machine_;
  std::unique_ptr<MachineLoop> loop_;
  std::unique_ptr<StopProgress> progress_;       // destroyed when the journal is closed
  std::unique_ptr<CoordinatorStorage> storage_;  // destroyed before the loop that it posts to
  std::unique_ptr<Evaluations> evaluations_;     // null: no test set
  std::unique_ptr<LinkWatch> links_;
  std::unique_ptr<PlanService> planner_;
  std::unique_ptr<OperatorPorts> operators_;
  std::unique_ptr<StopSignals> signals_;
  DaemonEnd end_;
  Schedule next_;
};

// The order matters. The journal is read before the link opens, because agents connect at once and
// the machine must know its jobs by then. Signals are the last, because their handler uses all
// other parts.
Status CoordinatorDaemon::open() {
  TRIBUTARY_ASSIGN(outlets_,
                   DaemonOutlets::open(settings_.common, kComponent, [this](const Note& note) {
                     if (storage_) telemetry().event(note);
                   }));
  TRIBUTARY_ASSIGN(storage_,
                   CoordinatorStorage::open(
                       {.journal = {.path = settings_.journal.file,
                                    .durability = settings_.journal.durability()},
                        .retention = settings_.retention},
                       {.post = [this](Event event) { loop_->post(std::move(event)); },
                        .clock = outlets_->clock(),
                        .log = log(),
                        .note = [this](const Note& note) { outlets_->notes().note(note); }}));
  TRIBUTARY_ASSIGN(CoordinatorState state, storage_->restore());
  TRIBUTARY_TRY(open_link());

  CoordinatorConfig config = settings_.machine;
  TRIBUTARY_ASSIGN(config.incarnation, draw_incarnation());
  TRIBUTARY_ASSIGN(config.check_seed, draw_incarnation());
  config.plan_fusion = [](const FusionProfile& profile) {
    // The loop waits for the solver: a few milliseconds (docs/fusion.md).
    return plan_fusion(profile, {.steps_max = std::uint64_t{1} << 22});
  };
  // The machine consumes the state, but the restored jobs are needed once more below.
  const CoordinatorState restored = state;
  for (const RestoredJob& job : restored.jobs) place_payloads(job.job);
  TRIBUTARY_ASSIGN(machine_, Coordinator::make(std::move(config), std::move(state)));
  loop_ = std::make_unique<MachineLoop>(
      LoopParts{.handle = [this](TimeNs now, const Event& event) { return handle(now, event); },
                .next_wakeup_ns = [this] { return machine_->next_wakeup_ns(); },
                .execute = [this](Action& action) { execute(action); },
                .id_of = [this](const PublicKey& key) -> std::string {
                  return settings_.encrypted ? allowed_.list()->id_of(key) : std::string();
                },
                .link = *hub_,
                .clock = outlets_->clock(),
                .notes = outlets_->notes()});
  TRIBUTARY_TRY(open_links_watch());
  open_planner(restored);
  TRIBUTARY_ASSIGN(evaluations_,
                   Evaluations::open(settings_.evaluation, {log(), [this](const Reading& reading) {
                                                              take_reading(reading);
                                                            }}));
  TRIBUTARY_TRY(open_operator_ports());
  TRIBUTARY_ASSIGN(signals_, StopSignals::open([this](int signal) { on_signal(signal); }));
  return submit_job(restored);
}

// A random first number prevents that an echo to an earlier process of this coordinator is taken
// for one of its own probes.
Status CoordinatorDaemon::open_links_watch() {
  std::optional<LinkProbes> probes;
  if (settings_.probes) {
    TRIBUTARY_ASSIGN(const std::uint64_t first_probe, draw_incarnation());
    probes.emplace(first_probe,
                   LinkProbes::Options{.prober = {.quiet_s = settings_.probes_quiet_ms / 1e3,
                                                  .spacing_s = settings_.probes_spacing_ms / 1e3}});
  }
  links_ = std::make_unique<LinkWatch>(
      std::make_unique<LinkFigures>(outlets_->clock(), outlets_->metrics(), telemetry()),
      std::move(probes));
  return {};
}

// Plans of restored jobs are resumed before the loop handles the first message of an agent. The
// codecs are measured meanwhile.
void CoordinatorDaemon::open_planner(const CoordinatorState& restored) {
  planner_ = std::make_unique<PlanService>(
      PlanServiceParts{.links =
                           [this](const std::vector<std::string>& agents) {
                             return plan_links(links_->figures(), agents, seconds_of(loop_->now()));
                           },
                       .advise = [this](PlanAdvised advised) { loop_->post(std::move(advised)); },
                       .codecs =
                           [this](std::uint32_t agents, const std::function<bool()>& go_on) {
                             return measure_planned_codecs(agents, outlets_->clock(), go_on);
                           },
                       .own_speeds =
                           [this](const std::function<bool()>& go_on) {
                             return measure_own_speeds(outlets_->clock(), go_on);
                           },
                       .clock = outlets_->clock(),
                       .log = log()});
  for (const RestoredJob& job : restored.jobs) {
    resume_plan_of(job.job);
    prepare_planner(job.job);
  }
}

// Opens the transport. Without encryption no allow-list applies, and any agent may claim any id.
Status CoordinatorDaemon::open_link() {
  TRIBUTARY_ASSIGN(KeyPair keys, keys_for(settings_.key_file, settings_.encrypted));
  if (settings_.encrypted) {
    TRIBUTARY_TRY(allowed_.read());
  } else {
    log().warning(kComponent, "encryption is off: the ids of agents are not verified");
  }
  TRIBUTARY_ASSIGN(std::shared_ptr<LinkContext> context,
                   LinkContext::open({.io_threads = settings_.io_threads,
                                      .sockets_max = settings_.connections_max,
                                      .clock = &outlets_->clock()}));
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

Status CoordinatorDaemon::open_operator_ports() {
  TRIBUTARY_ASSIGN(
      operators_, OperatorPorts::open(
                      settings_,
                      {.jobs = [this] { return machine_->jobs(); },
                       .agents = [this] { return machine_->agents(); }},
                      {.ids = [this] { return allowed_.list()->ids(); },
                       .allow = [this](const AllowedAgent& agent) { return allowed_.allow(agent); },
                       .revoke = [this](const std::string& id) { return allowed_.revoke(id); }},
                      kFirstCommand, outlets_->clock(), log()));
  return {};
}

// The end is tracked here and not in the machine, because the grace period is a matter of the
// process.
Actions CoordinatorDaemon::handle(TimeNs now, const Event& event) {
  if (const auto* shutdown = std::get_if<Shutdown>(&event)) {
    end_.stop(now);
    log().info(kComponent, "stopping", {{"reason", shutdown->reason}});
    ignore_error(notify_service_manager("STOPPING=1"));
  }
  return machine_->handle(now, event);
}

// Submits the job of the settings, unless the journal contains a job of that name, which then
// continues.
Status CoordinatorDaemon::submit_job(const CoordinatorState& state) {
  if (!settings_.job) return {};
  for (const RestoredJob& job : state.jobs) {
    TRIBUTARY_ASSIGN(const auto model, JobModel::make(job.job.definition));
    if (model->wire().name()->string_view() == settings_.job->name) return {};
  }
  TRIBUTARY_ASSIGN(SubmitJob submit, submission(*settings_.job));
  submit.command = kFirstCommand - 1;
  for (const std::string& warning : job_warnings(*settings_.job)) {
    log().warning(kComponent, "job", {{"name", settings_.job->name}, {"text", warning}});
  }
  loop_->post(std::move(submit));
  return {};
}

void CoordinatorDaemon::execute(Action& action) {
  std::visit(
      Overloaded{
          [this](StoreCoordinator& request) {
            if (const auto* added = std::get_if<NewJobRecord>(&request.record)) {
              place_payloads(added->job);
              prepare_planner(added->job);
            } else if (const auto* changed = std::get_if<JobRecord>(&request.record)) {
              prepare_planner(*changed);
            }
            storage_->store(request);
          },
          [this](const LoadRound& request) { storage_->load(request); },
          [this](const Reading& reading) { take_reading(reading); },
          [this](const ProbeEchoed& echo) { links_->take_echo(seconds_of(loop_->now()), echo); },
          [this](const LinksReported& links) { links_->figures().reported(links); },
          [this](const SpeedsReported& speeds) { planner_->reported(speeds); },
          [this](const AgentReported& report) { planner_->reported(report); },
          [this](const RoundPlayed& round) { planner_->played(round); },
          [this](const CommandDone& done) { take_done(done); },
          [this](const Finished& finished) { end_.finish(finished.status); },
          // The loop has already performed these actions.
          Ignored<Send, ClosePeer, Note>(),
          // Only agents receive these actions.
          Ignored<StoreAgent, Train, RunInBackground, OpenPeers, ClosePeers, SendToPeer,
                  SumInNetwork, StopSums, InstallSums, ResidualDropped>(),
      },
      action);
}

// A command is an operator's, or else the submission of the settings' job. If that one fails, the
// coordinator cannot do what it was started for and ends.
void CoordinatorDaemon::take_done(const CommandDone& done) {
  if (done.status.ok()) log().info(kComponent, "job changed", {{"job", done.job}});
  if (operators_ && operators_->done(done)) return;
  end_.fail(done.status);
}

void CoordinatorDaemon::prepare_planner(const JobRecord& job) {
  if (is_to_be_planned(job)) planner_->prepare(job.policy.agents_min);
}

void CoordinatorDaemon::resume_plan_of(const JobRecord& job) {
  if (!is_to_be_planned(job)) return;
  const Status resumed = resume_plan(*planner_, job.job, settings_.journal.file, outlets_->clock());
  if (resumed.ok()) return;
  log().warning(kComponent, "the last plan cannot be read",
                {{"job", job.job}, {"error", resumed.text()}});
}

// Readings of links go to the link figures, which aggregate them. An agent's own readings are only
// stored, because a metric per agent would make the number of time series grow with the agents.
void CoordinatorDaemon::take_reading(const Reading& reading) {
  const ReadingGroup group = facts_of(reading.kind).group;
  if (group == ReadingGroup::link) return links_->take_reading(reading);
  telemetry().metric(reading);
  if (!reading.agent_id.empty()) return;
  const std::string job = job_name(reading.job);
  publish(reading, outlets_->metrics(), job);
  if (reading.kind == ReadingKind::round_s) take_round_published(reading, job);
}

// The value of the label `job`. A random number of 64 bits would tell people nothing.
std::string CoordinatorDaemon::job_name(std::uint64_t job) const {
  const std::vector<JobView> jobs = machine_->jobs();
  const auto found = std::ranges::find(jobs, job, &JobView::job);
  return found == jobs.end() ? "" : found->name;
}

void CoordinatorDaemon::take_round_published(const Reading& reading, const std::string& job) {
  outlets_->metrics().count("tributary_rounds_committed_total", {{"job", job}});
  outlets_->metrics().count("tributary_round_seconds_total", {{"job", job}}, reading.value);
  links_->figures().round_published(reading, hub_->counters());
  log().info(kComponent, "round published", {{"round", reading.round}, {"seconds", reading.value}});
  if (evaluations_) {
    evaluations_->committed({.job = reading.job,
                             .version = reading.round,
                             .definition = machine_->definition_of(reading.job),
                             .model = machine_->model_of(reading.job)});
  }
}

// Probes are events of the machine, because only it knows the session of an agent.
void CoordinatorDaemon::probe_links() {
  if (end_.stopping()) return;
  for (const ProbeLink& probe : links_->probes_due(seconds_of(loop_->now()), machine_->agents())) {
    loop_->feed(probe);
  }
}

// SIGHUP reloads the allow-lists; every other signal that is handled stops the coordinator.
void CoordinatorDaemon::on_signal(int signal) {
  if (signal != SIGHUP) {
    loop_->post(Shutdown{.reason = "stopped by a signal"});
    return;
  }
  allowed_.read_again(log());
  operators_->read_watchers_again(log());
}

void CoordinatorDaemon::export_metrics() {
  const LinkCounters counters = hub_->counters();
  next_.gauges.publish(*machine_, {.link = counters, .dropped = loop_->sends_dropped()}, *storage_,
                       outlets_->metrics());
  links_->figures().count_refusals(counters);
  operators_->export_metrics(outlets_->metrics());
}

// Whether every job is over and each connected agent has its last model or had enough time to get
// it.
bool CoordinatorDaemon::everything_done() {
  const auto jobs = machine_->jobs();
  const bool over = !jobs.empty() && std::ranges::all_of(jobs, [](const Coordinator::JobView& job) {
    return job.state == wire::JobState::finished || job.state == wire::JobState::stopped;
  });
  if (!over || (evaluations_ && !evaluations_->idle())) return false;
  if (next_.done_since_ns == kNever) next_.done_since_ns = loop_->now();
  // An agent that is gone would otherwise keep the process alive forever.
  if (loop_->now() - next_.done_since_ns >= settings_.common.stop_grace_ms * kNsPerMs) return true;
  const auto version_of = [&](std::uint64_t number) {
    const auto job = std::ranges::find(jobs, number, &Coordinator::JobView::job);
    return job == jobs.end() ? 0 : job->rounds_committed;
  };
  return machine_->idle() &&
         std::ranges::all_of(machine_->agents(), [&](const Coordinator::AgentView& agent) {
           return agent.ready && agent.model_version == version_of(agent.job);
         });
}

void CoordinatorDaemon::run_periodic_tasks() {
  const TimeNs now = loop_->now();
  if (now < next_.look_at_ns) return;
  next_.look_at_ns = now + kLookEveryNs;
  if (evaluations_) evaluations_->report();
  for (const Event& event : operators_->take()) loop_->feed(event);
  if (settings_.exit_when_done && !end_.stopping() && everything_done()) {
    loop_->feed(Shutdown{.reason = "all jobs are done"});
  }
  end_.look(now, machine_->idle());
  if (now < next_.metrics_at_ns) return;
  next_.metrics_at_ns = now + kMetricsEveryNs;
  export_metrics();
  links_->figures().run_periodic_tasks();
  probe_links();
  storage_->store_telemetry();
  next_.idle_memory.look(now);
}

// The order at the end matters: operators' waiting commands are answered, the evaluations' results
// are published, the journal's thread ends, and only then the remaining telemetry is written on
// this thread.
Status CoordinatorDaemon::run() {
  log().info(kComponent, "listening",
             {{"endpoint", hub_->endpoint()},
              {"encrypted", settings_.encrypted},
              {"threads", settings_.common.threads}});
  if (Status status = notify_service_manager("READY=1"); !status.ok()) {
    log().warning(kComponent, "service manager", {{"error", status.text()}});
  }
  while (!end_.ended()) {
    TRIBUTARY_TRY(loop_->turn(next_.look_at_ns).status());
    run_periodic_tasks();
  }
  operators_->close_operators();
  if (evaluations_) evaluations_->end();
  next_.gauges.store_next();  // the final byte totals
  export_metrics();
  if (evaluations_) evaluations_->report();
  signals_.reset();
  progress_ = StopProgress::of_process(settings_.journal.file, log(), end_.status().code());
  storage_->end();
  links_->figures().close();
  storage_->keep_rest();
  log().info(kComponent, "stopped", {{"model_version", machine_->model_version()}});
  return end_.status();
}

}  // namespace

Status run_coordinator(const CoordinatorSettings& settings) {
  // The pool outlives everything that uses it.
  ThreadPool pool(settings.common.threads);
  CoordinatorSettings own = settings;
  own.machine.execution.pool = &pool;
  CoordinatorDaemon daemon(own);
  TRIBUTARY_TRY(daemon.open());
  return daemon.run();
}

}  // namespace tributary
