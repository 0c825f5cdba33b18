// The coordinator of a test's federation: the simulator's host with a journal in memory, the test's
// job, and the test as its planner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "core/round/common/plan/job_model.h"
#include "core/sim/federation/federation_context_testing.h"
#include "core/sim/federation/memory_journals_testing.h"
#include "core/sim/machines/coordinator_host.h"

namespace tributary::sim_testing {

class FederationCoordinator final : public CoordinatorHost {
 public:
  FederationCoordinator(SimulationContext& sim, SimulatedNetwork& network,
                        FederationContext& context)
      : CoordinatorHost(sim, network), context_(context) {}

  MemoryCoordinatorJournal journal;

  // The process ends and stays down until start().
  void crash() {
    stop_restarting();
    kill({});
  }
  // The next `times` writes find the disk full.
  void fail_stores(int times) { store_failures_ = times; }
  // The next reads of results fail.
  void fail_reads(int times) { read_failures_ = times; }
  std::uint64_t results_read() const { return results_read_; }
  // The result of an operator's command; empty if it is not done yet.
  std::optional<Status> command_done(Token token) const {
    const auto found = done_.find(token);
    return found == done_.end() ? std::nullopt : std::optional<Status>(found->second);
  }

 private:
  static constexpr Token kSubmit = 1;  // token of the command that submits the job

  // The timeouts are short, so that a test of lost messages takes few virtual seconds.
  Status boot() override {
    const Options& options = context_.options;
    CoordinatorConfig config;
    config.incarnation = draws_.bits() | 1;
    config.execution = options.execution;
    config.heartbeat_interval_ms = 200;
    config.heartbeat_timeout_ms = 1'000;
    config.ack_timeout_ms = 20;
    config.incoming_bytes_max = options.incoming_bytes_max;
    config.outgoing_bytes_max = options.outgoing_bytes_max;
    config.payload_bytes_max = options.payload_bytes_max;
    config.history_rounds_max = options.history_rounds_max;
    config.redo_models = options.redo_models;
    config.redo_bytes_in_memory_max = options.redo_bytes_in_memory_max;
    CoordinatorState state = journal.state();
    sim_.ledger.restored(state, false, sim_.now());
    return run_machine(std::move(config), std::move(state));
  }

  // A job in delta mode with plain SGD, so that the model moves by exactly the combined update.
  Result<SubmitJob> job() const override {
    SubmitJob submit{
        .command = kSubmit, .definition = {}, .policy = context_.options.policy, .model = nullptr};
    wire::JobT& job = submit.definition;
    job.name = "test";
    job.seed = 42;
    job.mode = wire::ExchangeMode::delta;
    job.rounds = context_.options.rounds;
    job.weighting = wire::Weighting::equal;
    job.model = std::make_unique<wire::ModelT>();
    job.model->kind = wire::ModelKind::built_in;
    job.model->name = "none";
    job.optimizer = std::make_unique<wire::OptimizerT>();
    job.optimizer->kind = wire::OptimizerKind::sgd;
    job.layer_map = wire_layers(context_.map);
    if (context_.options.change_job) context_.options.change_job(job);
    submit.model = std::make_shared<const FloatVector>(context_.map.values(), 0.5f);
    return submit;
  }

  void perform(Action& action) override {
    MachineLog& log = context_.log;
    if (auto* const record = std::get_if<StoreCoordinator>(&action)) return keep(*record);
    if (const auto* const request = std::get_if<LoadRound>(&action)) return load(*request);
    if (auto* const round = std::get_if<RoundPlayed>(&action)) return advise(*round);
    if (auto* const report = std::get_if<AgentReported>(&action)) {
      return log.reported.push_back(std::move(*report));
    }
    if (auto* const reading = std::get_if<Reading>(&action)) {
      return log.readings.push_back(std::move(*reading));
    }
    if (const auto* const done = std::get_if<CommandDone>(&action)) {
      done_[done->command] = done->status;
      if (done->command != kSubmit) return;
    }
    if (const auto* const note = std::get_if<Note>(&action)) log.note(sim_.now(), *note);
    if (const auto* const sent = std::get_if<Send>(&action)) {
      log.sent(sim_.now(), host_name(), sent->frame);
    }
    CoordinatorHost::perform(action);
  }

  // A process that ends before the disk is done has not stored the record.
  void keep(StoreCoordinator& store) {
    later(context_.options.store_ns, [this, token = store.token, record = std::move(store.record)] {
      if (store_failures_ > 0) {
        --store_failures_;
        return handle(Stored{.token = token, .status = disk_full()});
      }
      journal.apply(record);
      record_outcome(record, {});
      handle(Stored{.token = token, .status = {}});
    });
  }

  // Old rounds are read from the journal after the time of a disk.
  void load(const LoadRound& request) {
    RoundLoaded loaded{.token = request.token, .round = journal.round(request.round), .epoch = {}};
    if (loaded.round) loaded.epoch = journal.epoch(loaded.round->id.epoch);
    if (request.results_of) {
      ++results_read_;
      loaded.results = journal.results(request.round, *request.results_of);
      if (read_failures_ > 0) {
        --read_failures_;
        loaded = {.token = request.token, .status = disk_full(), .round = {}, .epoch = {}};
      }
    }
    later(context_.options.store_ns, [this, loaded] { handle(loaded); });
  }

  // The planner's advice arrives after the time of a training.
  void advise(RoundPlayed& round) {
    const Options& options = context_.options;
    if (const auto advice = options.advise ? options.advise(round) : nullptr) {
      later(options.train_ns,
            [this, job = round.job, advice] { handle(PlanAdvised{.job = job, .advice = advice}); });
    }
    context_.log.played.push_back(std::move(round));
  }

  FederationContext& context_;
  int store_failures_ = 0;
  int read_failures_ = 0;
  std::uint64_t results_read_ = 0;
  std::map<Token, Status> done_;
};

}  // namespace tributary::sim_testing
