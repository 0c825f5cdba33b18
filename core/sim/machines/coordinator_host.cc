#include "core/sim/machines/coordinator_host.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "core/base/overloaded.h"
#include "core/codec/registry.h"
#include "core/round/common/plan/job_model.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

// Small models must have large chunks.
constexpr std::uint64_t kLargeChunkBytes = 256;

// Short heartbeats, so that a lost agent is detected within the time of a few rounds.
CoordinatorConfig config_of(std::uint64_t incarnation) {
  CoordinatorConfig config;
  config.incarnation = incarnation;
  config.check_seed = ~incarnation;
  config.heartbeat_interval_ms = 500;
  config.heartbeat_timeout_ms = 2'500;
  // Half of the processes have only the last round's results in memory.
  if ((incarnation & 2) != 0) config.redo_bytes_in_memory_max = 0;
  return config;
}

// Memory limit of the coordinator in bytes: aggregates of the round, results that are kept for
// retransmission, and the messages in flight that its own limits allow.
std::uint64_t buffered_bytes_max(const Scenario& scenario) {
  const CoordinatorConfig config = config_of(1);
  return 2 * config.incoming_bytes_max + 16 * 4 * scenario.values() +
         std::uint64_t{scenario.agents} * 16'384;
}

// A job without a model file and with plain SGD, whose sums can be checked exactly.
Result<wire::JobT> job_definition(const Scenario& scenario) {
  std::vector<LayerShape> shapes;
  for (std::uint32_t i = 0; i < scenario.job.buckets; ++i) {
    shapes.push_back({fmt::format("layer{}.weight", i), {scenario.job.bucket_values}});
  }
  TRIBUTARY_ASSIGN(const LayerMap map, LayerMap::make(std::move(shapes)));
  wire::JobT job;
  job.name = "simulated";
  job.seed = 1;
  job.mode =
      scenario.job.mode == "delta" ? wire::ExchangeMode::delta : wire::ExchangeMode::gradient;
  job.rounds = scenario.rounds;
  job.model = std::make_unique<wire::ModelT>();
  job.model->kind = wire::ModelKind::built_in;
  job.model->name = "made_up";
  job.layer_map = wire_layers(map);
  job.loss = "none";
  job.optimizer = std::make_unique<wire::OptimizerT>();
  job.optimizer->kind = wire::OptimizerKind::sgd;
  job.strategy = "fedavg";
  job.weighting = wire::Weighting::equal;
  job.batch_size = 1;
  return job;
}

}  // namespace

CoordinatorHost::CoordinatorHost(SimulationContext& sim, SimulatedNetwork& network)
    : Host(sim, "coordinator", 0), network_(network) {}

// The ledger checks the journal before the machine uses it.
Status CoordinatorHost::boot() {
  JournalOptions options = journal_options();
  options.large_chunk_bytes = kLargeChunkBytes;
  TRIBUTARY_ASSIGN(journal_, CoordinatorJournal::open({.journal = options}));
  TRIBUTARY_ASSIGN(CoordinatorState state, journal_->restore());
  const bool power_failed =
      std::exchange(power_failures_seen_, power_failures()) != power_failures();
  sim_.ledger.restored(state, power_failed, sim_.now());
  return run_machine(config_of(draws_.bits() | 1), std::move(state));
}

Status CoordinatorHost::run_machine(CoordinatorConfig config, CoordinatorState state) {
  has_job_ = !state.jobs.empty();
  TRIBUTARY_ASSIGN(machine_, Coordinator::make(std::move(config), std::move(state)));
  return {};
}

Status CoordinatorHost::sync_journal() {
  if (Status status = journal_->sync(); !status.ok()) {
    TRIBUTARY_TRY(journal_->database().log().copy());
  }
  sim_.ledger.journal_durable();
  return {};
}

void CoordinatorHost::drop() {
  machine_.reset();
  journal_.reset();
  for (std::uint32_t i = 0; i < sim_.scenario.clients(); ++i) network_.hang_up(i);
}

void CoordinatorHost::started() {
  version_seen_ = UINT64_MAX;
  look();
  submit();
  if (running()) network_.dial_all();
}

Result<SubmitJob> CoordinatorHost::job() const {
  SubmitJob event;
  event.command = 1;
  TRIBUTARY_ASSIGN(event.definition, job_definition(sim_.scenario));
  event.policy = sim_.scenario.job.policy;
  event.model = std::make_shared<FloatVector>(sim_.scenario.values(), 0.0f);
  return event;
}

// Submits the scenario's job unless the journal has one.
void CoordinatorHost::submit() {
  if (has_job_) return;
  const Result<SubmitJob> event = job();
  if (!event.ok()) return sim_.watch.report(sim_.now(), "scenario", event.status().text());
  handle(*event);
}

// Compares the model after each commit. The check of the memory limit is less frequent because it
// is slower.
void CoordinatorHost::look() {
  if (const std::uint64_t version = machine_->model_version(); version != version_seen_) {
    version_seen_ = version;
    sim_.ledger.check_coordinator(*machine_, sim_.now());
  }
  if (++events_ % 256 != 0) return;
  const std::uint64_t bound = buffered_bytes_max(sim_.scenario);
  if (const std::uint64_t held = machine_->buffered_bytes(); held > bound) {
    sim_.watch.report(sim_.now(), "bounds",
                      fmt::format("the coordinator holds {} bytes, more than {}", held, bound));
  }
}

// --- actions of the machine ----------------------------------------------------------------------

void CoordinatorHost::perform(Action& action) {
  std::visit(
      Overloaded{
          [this](Send& sent) { send(sent); },
          [this](const ClosePeer& closed) { network_.forget(closed.peer); },
          [this](StoreCoordinator& record) { store(record); },
          [this](const LoadRound& request) {
            later(draw_ns(sim_.scenario.machines.disk, draws_), [this, request] {
              Result<RoundLoaded> loaded = journal_->load_round(request);
              if (loaded.ok()) return handle(*loaded);
              if (died_of_power()) return;
              handle(RoundLoaded{
                  .token = request.token, .status = loaded.status(), .round = {}, .epoch = {}});
            });
          },
          [this](const Note& note) { sim_.note(host_name(), note); },
          [this](const CommandDone& done) {
            if (done.status.ok()) {
              has_job_ = true;
            } else if (sim_.faulty) {  // the journal refused it: try again, as an operator would
              later(1'000'000'000, [this] { submit(); });
            } else {
              sim_.watch.report(sim_.now(), "scenario", done.status.text());
            }
          },
          [this](const RoundPlayed& round) { advise(round); },
          [this](const Finished&) { kill({.fault = {}, .down_ns = 1'000'000'000}); },
          // The simulator exports no readings, and its planner does not measure.
          Ignored<Reading, ProbeEchoed, LinksReported, SpeedsReported, AgentReported>(),
          // Actions of an agent only:
          Ignored<StoreAgent, Train, RunInBackground, OpenPeers, ClosePeers, SendToPeer,
                  SumInNetwork, StopSums, InstallSums, ResidualDropped>(),
      },
      action);
}

// Advises the plan that the job has anyway, except that every participant gets a new share.
void CoordinatorHost::advise(const RoundPlayed& round) {
  const ScenarioJob& job = sim_.scenario.job;
  const Result<std::unique_ptr<Codec>> codec = make_codec(job.policy.codecs[0]);
  if (!codec.ok()) return sim_.watch.report(sim_.now(), "scenario", codec.status().text());
  const double most = *(*codec)->own_share();
  auto advice = std::make_shared<PlanAdvice>();
  advice->choice = {.codec = (*codec)->spec(),
                    .collective = wire::Collective::star,
                    .bucket_values_max = job.policy.bucket_values_max};
  advice->trigger = wire::Trigger::policy;
  advice->sentence = "drawn by chance";
  for (const RoundPlayed::Participant& participant : round.participants) {
    // Small shares are more likely than large ones.
    const double part = draws_.uniform() * draws_.uniform();
    advice->ratios[participant.agent_id] = job.ratio_min + part * (most - job.ratio_min);
  }
  later(0, [this, advised = PlanAdvised{.job = round.job, .advice = std::move(advice)}] {
    handle(advised);
  });
}

// The ledger sees every commit that leaves the coordinator.
void CoordinatorHost::send(Send& sent) {
  const wire::Frame& frame = *wire::GetFrame(sent.frame.data());
  if (const wire::Commit* const commit = frame.message_as_Commit()) {
    sim_.ledger.published(*commit, sim_.now());
  }
  network_.send_down(sent.peer, {std::move(sent.frame), sent.has_payload, std::move(sent.payload)});
}

// The journal writes at once; the machine learns the result after the time of a disk.
void CoordinatorHost::store(StoreCoordinator& record) {
  const bool is_commit = std::holds_alternative<CommitRecord>(record.record);
  const TimeNs latency = draw_ns(sim_.scenario.machines.disk, draws_);
  if (is_commit && sim_.mutation == Mutation::apply_before_commit) {
    later(0, [this, token = record.token] { handle(Stored{.token = token, .status = {}}); });
    later(20 * latency, [this, late = std::move(record.record)] {
      record_outcome(late, journal_->store(late));
      static_cast<void>(died_of_power());
    });
    return;
  }
  Status status = journal_->store(record.record);
  record_outcome(record.record, status);
  if (died_of_power()) return;
  if (is_commit && status.ok() && kill_at_commit_ns_) {
    const Ending ending = {.fault = name(Incident::kill_before_publish),
                           .power_cut = draws_.chance(0.5),
                           .down_ns = *kill_at_commit_ns_};
    kill_at_commit_ns_.reset();
    if (draws_.chance(0.5)) return kill(ending);
    // Some agents receive the commit.
    kill_after_actions(draws_.below(sim_.scenario.agents), ending);
  }
  later(latency, [this, token = record.token, status = std::move(status)] {
    handle(Stored{.token = token, .status = status});
  });
}

void CoordinatorHost::record_outcome(const CoordinatorRecord& record, const Status& status) {
  Ledger& ledger = sim_.ledger;
  if (const auto* const epoch = std::get_if<EpochRecord>(&record)) ledger.epoch_stored(*epoch);
  if (const auto* const job = std::get_if<NewJobRecord>(&record); job != nullptr && status.ok()) {
    ledger.job_stored(*job, sim_.now());
  }
  // A store that failed may still have written the commit.
  if (const auto* const commit = std::get_if<CommitRecord>(&record)) {
    if (status.ok()) {
      ledger.commit_stored(*commit, sim_.now());
    } else {
      ledger.commit_in_doubt(*commit);
    }
  }
}

}  // namespace tributary
