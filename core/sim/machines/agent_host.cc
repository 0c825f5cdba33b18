#include "core/sim/machines/agent_host.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "core/base/overloaded.h"
#include "core/sim/checks/ledger.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

// The models of simulations are small, and their vectors must take the path of large ones.
constexpr std::uint64_t kSimulatedLargeChunkBytes = 32;

// Memory limit of an agent for its job, in models plus a fixed part: model, residual, update,
// aggregates and payloads of one round, and of one more round during catch-up.
constexpr std::uint64_t kBufferedModelsMax = 12;
constexpr std::uint64_t kBufferedFixedBytes = 1u << 20;
// Additional limit for messages of peers that are ahead.
constexpr std::uint64_t kAheadModelsMax = 4;
constexpr std::uint64_t kAheadFixedBytes = 4u << 20;

}  // namespace

std::shared_ptr<FloatVector> dyadic_update(std::uint64_t seed, std::uint32_t agent,
                                           std::uint64_t round, std::size_t values) {
  auto update = std::make_shared<FloatVector>(values);
  // One draw gives the bytes of eight values.
  SeededDraws draws(seed ^ round << 20, DrawUse::training, agent);
  for (std::size_t i = 0; i < values; i += 8) {
    std::uint64_t bits = draws.bits();
    for (std::size_t k = i; k < std::min(i + 8, values); ++k, bits >>= 8) {
      (*update)[k] = static_cast<float>(static_cast<std::int8_t>(bits & 0xff)) * 0x1p-10f;
    }
  }
  return update;
}

AgentHost::AgentHost(SimulationContext& sim, SimulatedNetwork& network, PeerNetwork& peers,
                     std::uint32_t index, SumsNetwork* sums)
    : Host(sim, Ledger::agent_name(index), index + 1),
      network_(network),
      peers_(peers),
      sums_(sums),
      index_(index),
      training_draws_(sim.seed, DrawUse::training, index + (std::uint64_t{1} << 32)) {}

Status AgentHost::boot() {
  JournalOptions options = journal_options();
  options.large_chunk_bytes = kSimulatedLargeChunkBytes;
  TRIBUTARY_ASSIGN(journal_, AgentJournal::open(options));
  TRIBUTARY_ASSIGN(AgentState state, journal_->restore());
  TRIBUTARY_TRY(check_residual(state));
  AgentConfig config;
  config.agent_id = host_name();
  config.incarnation = draws_.bits() | 1;  // never 0
  config.checkpoint_rounds = sim_.scenario.job.policy.checkpoint_rounds;
  const std::uint32_t every = sim_.scenario.machines.train_ahead_every;
  config.train_ahead = every > 0 && index_ % every == every - 1;
  if (sums_) config.capabilities.collectives = {wire::Collective::in_network};
  if (sim_.scenario.by_peers()) config.endpoints = {PeerNetwork::endpoint(index_)};
  return run_machine(std::move(config), std::move(state));
}

Status AgentHost::run_machine(AgentConfig config, AgentState state) {
  TRIBUTARY_ASSIGN(machine_, Agent::make(std::move(config), std::move(state)));
  restarted_ = true;
  return {};
}

// The journal counts the residuals that it has dropped, because its opening may have failed after
// that.
Status AgentHost::check_residual(const AgentState& state) {
  TRIBUTARY_ASSIGN(const std::uint64_t dropped, journal_->residuals_dropped());
  const bool power_failed =
      std::exchange(power_failures_seen_, power_failures()) != power_failures();
  if (std::exchange(residuals_dropped_, dropped) == dropped) return {};
  const std::uint64_t taken = state.replica ? state.replica->residual_stamp.updates_taken : 0;
  sim_.ledger.residual_dropped(index_, taken, power_failed, sim_.now());
  return {};
}

Status AgentHost::sync_journal() {
  return journal_->sync().ok() ? Status() : journal_->database().log().copy();
}

// The end of a process closes its connections too.
void AgentHost::drop() {
  machine_.reset();
  journal_.reset();
  skipper_ = {};
  network_.hang_up(index_);
  peers_.close(index_);
  if (sums_) sums_->close(index_);
}

// The replica must equal the one before the restart, so it is checked before anything changes it.
void AgentHost::started() {
  look();
  network_.dial(index_);
}

// Compares the replica with the ledger after every event. The check of the memory limit is less
// frequent because it is slower.
void AgentHost::look() {
  sim_.ledger.check_agent(index_, *machine_, restarted_, sim_.now());
  restarted_ = false;
  if (++events_ % 64 != 0) return;
  const std::uint64_t bound = buffered_bytes_max();
  if (const std::uint64_t held = machine_->buffered_bytes(); held > bound) {
    sim_.watch.report(sim_.now(), "bounds",
                      fmt::format("{} holds {} bytes, more than {}", host_name(), held, bound));
  }
}

std::uint64_t AgentHost::buffered_bytes_max() const {
  const Scenario& scenario = sim_.scenario;
  const std::uint64_t model_bytes = 4 * scenario.values();
  const std::uint64_t alone = kBufferedFixedBytes + kBufferedModelsMax * model_bytes;
  if (!scenario.by_peers()) return alone;
  // In a gather, each agent holds the payloads of all agents.
  return alone + kAheadFixedBytes + (kAheadModelsMax + 2 * scenario.agents) * model_bytes;
}

// --- actions of the machine ----------------------------------------------------------------------

void AgentHost::perform(Action& action) {
  std::visit(Overloaded{
                 [this](Send& sent) { send(sent); },
                 [this](StoreAgent& record) { store(record); },
                 [this](const Train& order) { train(order); },
                 [this](const RunInBackground& order) {
                   // Sometimes the machine needs the result before.
                   later(draws_.between(0, 2000) * 1000, [this, order] {
                     order.work->run();
                     handle(BackgroundDone{.token = order.token});
                   });
                 },
                 [this](const Note& note) { sim_.note(host_name(), note); },
                 [this](const Finished&) {
                   kill({.fault = {}, .down_ns = draws_.between(100, 2000) * 1'000'000});
                 },
                 [this](SendToPeer& message) { peers_.send(index_, std::move(message)); },
                 [this](SumInNetwork& request) {
                   const TimeNs deadline_ns = clock().when(request.deadline_ns);
                   if (sums_) sums_->exchange(index_, std::move(request), deadline_ns);
                 },
                 [this](const StopSums& stopped) {
                   if (sums_) sums_->stop(index_, stopped.id);
                 },
                 [this](const ResidualDropped& dropped) { account().dropped(dropped.change); },
                 [this](const OpenPeers& epoch) { peers_.open(index_, epoch); },
                 [this](const ClosePeers&) { peers_.close(index_); },
                 [this](const ClosePeer&) {  // the machine gives up its connection
                   network_.hang_up(index_);
                   network_.dial(index_);
                 },
                 // The simulator exports no readings.
                 Ignored<Reading>(),
                 // Actions of a coordinator only:
                 Ignored<StoreCoordinator, LoadRound, ProbeEchoed, LinksReported, SpeedsReported,
                         AgentReported, RoundPlayed, CommandDone>(),
                 // Actions of an aggregator only:
                 Ignored<InstallSums>(),
             },
             action);
}

// The ledger sees every update that leaves the agent.
void AgentHost::send(Send& sent) {
  const wire::Frame& frame = *wire::GetFrame(sent.frame.data());
  if (const wire::Update* const update = frame.message_as_Update()) {
    sim_.ledger.update_sent(index_, *update, sent.payload, sim_.now());
  }
  network_.send_up(index_, {std::move(sent.frame), sent.has_payload, std::move(sent.payload)});
}

// The journal writes at once; the machine learns the result after the time of a disk.
void AgentHost::store(StoreAgent& record) {
  if (sim_.mutation == Mutation::skip_residual_write) skipper_.apply(record.record);
  if (sim_.mutation == Mutation::forget_error) forgetter_.apply(record.record);
  if (sim_.mutation == Mutation::vote_before_store && store_late(record)) return;
  Status status = journal_->store(record.record);
  if (died_of_power()) return;
  if (status.ok()) sim_.ledger.agent_stored(index_, record.record);
  later(draw_ns(sim_.scenario.machines.disk, draws_),
        [this, token = record.token, status = std::move(status)] {
          handle(Stored{.token = token, .status = status});
        });
}

// For vote_before_store: returns true if it has confirmed the record to the machine and will store
// it later.
bool AgentHost::store_late(StoreAgent& record) {
  if (!std::holds_alternative<ContributionRecord>(record.record)) return false;
  later(0, [this, token = record.token] { handle(Stored{.token = token, .status = {}}); });
  later(20 * draw_ns(sim_.scenario.machines.disk, draws_), [this, late = std::move(record.record)] {
    if (journal_->store(late).ok()) sim_.ledger.agent_stored(index_, late);
    static_cast<void>(died_of_power());
  });
  return true;
}

// Half of the trainings pass the second half of the update early, so that both kinds of updates
// occur.
void AgentHost::train(const Train& order) {
  const Scenario& scenario = sim_.scenario;
  const MachineSettings& machines = scenario.machines;
  TimeNs duration = draw_ns(machines.training, training_draws_);
  if (index_ + machines.slow_agents >= scenario.agents) {
    duration = static_cast<TimeNs>(static_cast<double>(duration) * machines.slow_factor);
  }
  if (trainings_.slow > 0) {
    --trainings_.slow;
    duration += trainings_.slow_ns;
    sim_.tally.add(name(Incident::straggler));
  }
  trainings_.newest = order.token;
  const bool fails = trainings_.failures > 0;
  if (fails) {
    --trainings_.failures;
    sim_.tally.add(name(Incident::training_failure));
  }
  if (training_draws_.chance(0.5)) {
    later(duration / 2, [this, token = order.token, round = order.id.round,
                         values = order.model->size()] {
      const std::shared_ptr<FloatVector> update = dyadic_update(sim_.seed, index_, round, values);
      const std::uint64_t first = values / 2;
      if (token == trainings_.newest) offer(*update, first, round);
      handle(UpdatePart{.token = token, .first_value = first, .update = update});
    });
  }
  later(duration,
        [this, fails, token = order.token, round = order.id.round, values = order.model->size()] {
          if (fails) {
            return handle(UpdateFailed{.token = token,
                                       .status = Status(StatusCode::unavailable,
                                                        {.what = "training", .got = "no result"})});
          }
          std::shared_ptr<FloatVector> update = dyadic_update(sim_.seed, index_, round, values);
          if (token == trainings_.newest) offer(*update, 0, round);
          handle(UpdateReady{.token = token,
                             .update = std::move(update),
                             .loss = 1.0 / static_cast<double>(round + 1),
                             .examples = 32,
                             .compute_s = 0.01});
        });
}

Account& AgentHost::account() { return sim_.ledger.account(index_); }

// Returns the part of the round's update that the machine has not taken yet, with zeros before it.
SharedFloats AgentHost::offer(const FloatVector& update, std::uint64_t first, std::uint64_t round) {
  auto taken = std::make_shared<FloatVector>(update.size(), 0.0f);
  const std::uint64_t end = machine_->missing_of_update(round);
  for (std::uint64_t i = first; i < end; ++i) (*taken)[i] = update[i];
  account().offer(taken);
  return taken;
}

// --- faults --------------------------------------------------------------------------------------

void AgentHost::train_slowly(std::uint32_t times, TimeNs extra_ns) {
  trainings_.slow += times;
  trainings_.slow_ns = extra_ns;
}

void AgentHost::leave(TimeNs away_ns) {
  if (!running()) return;
  sim_.tally.add(name(Incident::agent_leave));
  // Messages that were not sent by then are lost, as when a service manager kills the process.
  later(away_ns, [this, away_ns] { kill({.fault = {}, .down_ns = away_ns}); });
  handle(Shutdown{.reason = "maintenance"});
}

// --- Receiver ------------------------------------------------------------------------------------

// For drop_straggler: changes commits so that the agent believes that it contributed.
void AgentHost::receive(const FrameReceived& event) {
  if (sim_.mutation != Mutation::drop_straggler || !machine_->connected()) return handle(event);
  const std::optional<std::uint32_t> place = sim_.ledger.place(index_, event.frame);
  if (!place) return handle(event);
  const Bytes altered = with_contributor(Bytes(event.frame.begin(), event.frame.end()), *place);
  FrameReceived forged = event;
  forged.frame = altered;
  handle(forged);
}

void AgentHost::connected(PeerId peer) { handle(PeerConnected{peer}); }
void AgentHost::disconnected(PeerId peer) { handle(PeerDisconnected{peer}); }
void AgentHost::alive(PeerId peer) { handle(PeerAlive{peer}); }

}  // namespace tributary
