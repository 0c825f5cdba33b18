#include "core/sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes/checksum.h"
#include "core/sim/machines/agent_host.h"
#include "core/sim/machines/coordinator_host.h"
#include "core/sim/machines/incidents.h"
#include "core/sim/machines/network.h"
#include "core/sim/machines/simulation_context.h"

namespace tributary {
namespace {

constexpr TimeNs kLookEveryNs = 50 * kMs;  // interval of the checks in look()
// Bound for one direction of one link. More messages in flight mean that a machine floods the
// network.
constexpr std::uint64_t kUnderWayMax = 20'000;

TimeNs ns_of(double seconds) { return static_cast<TimeNs>(seconds * 1e9); }

// One run. All of it happens on the thread that calls run().
class Simulation {
 public:
  Simulation(const Scenario& scenario, const SimOptions& options)
      : options_(options),
        sim_(scenario, options.seed, options.mutation),
        network_(sim_),
        peers_(sim_),
        coordinator_(sim_, network_),
        aggregator_(scenario.in_network() ? std::make_unique<AggregatorParts>(sim_, network_)
                                          : nullptr),
        incidents_(sim_, network_, peers_, coordinator_, agents_, aggregator_part()) {
    sim_.notes.on_note(options.on_note);
    std::vector<Receiver*> receivers;
    std::vector<PeerNetwork::Handler> peer_handlers;
    for (std::uint32_t i = 0; i < scenario.agents; ++i) {
      agents_.push_back(
          std::make_unique<AgentHost>(sim_, network_, peers_, i, aggregator_part().sums));
      AgentHost& agent = *agents_.back();
      receivers.push_back(&agent);
      peer_handlers.emplace_back([&agent](const Event& event) { agent.handle(event); });
    }
    // Networks are built before their receivers and get them here, because agents send through the
    // networks.
    if (aggregator_) {
      receivers.push_back(&aggregator_->host);
      aggregator_->sums.attach(peer_handlers);
    }
    network_.attach(coordinator_, std::move(receivers));
    peers_.attach(std::move(peer_handlers));
  }

  // Runs until everything is done or the first violation. `path` hashes the times of all events, so
  // that a run that differs at any point ends with another hash.
  Result<SimReport> run() {
    incidents_.begin();
    // look() is itself a task of the queue, so the checks happen at the same virtual times in every
    // run.
    look_again();
    while (!sim_.queue.empty() && !over_ && sim_.watch.count() == 0) {
      sim_.queue.run_next();
      sim_.path = sim_.path * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(sim_.now());
      if (sim_.ledger.rounds_committed() != rounds_) TRIBUTARY_TRY(round_committed());
    }
    return report();
  }

 private:
  // The aggregator in the network, with its packets.
  struct AggregatorParts {
    AggregatorParts(SimulationContext& sim, SimulatedNetwork& network)
        : sums(sim), host(sim, network, sums, sim.scenario.agents) {}
    SumsNetwork sums;
    AggregatorHost host;
  };
  Incidents::AggregatorPart aggregator_part() {
    if (!aggregator_) return {};
    return {.host = &aggregator_->host, .sums = &aggregator_->sums};
  }

  // A committed round is progress and starts the incidents of the next round.
  Status round_committed() {
    rounds_ = sim_.ledger.rounds_committed();
    progress_at_ns_ = sim_.now();
    sim_.budget.committed(rounds_, sim_.now());
    incidents_.round_begins(rounds_ + 1);
    if (options_.progress && !options_.progress(rounds_)) {
      return Status(StatusCode::cancelled, {.what = "simulation"});
    }
    return {};
  }

  void look_again() {
    look();
    sim_.queue.after(kLookEveryNs, [this] { look_again(); });
  }

  // Ends the faults when their time is over, and checks bounds, completion and progress.
  void look() {
    const Scenario& scenario = sim_.scenario;
    if (sim_.faulty && (rounds_ >= std::min(scenario.faults_until_round, scenario.rounds) ||
                        sim_.now() >= ns_of(scenario.faults_until_s))) {
      calm_down();
    }
    const std::uint64_t under_way = std::max(network_.under_way_max(), peers_.under_way_max());
    if (under_way > kUnderWayMax) {
      sim_.watch.report(sim_.now(), "bounds",
                        fmt::format("{} messages under way on one link", under_way));
    }
    if (sim_.faulty) return;
    // Only without faults: while faults are on, a machine may be down or behind for a good reason.
    if (rounds_ == scenario.rounds && all_up_to_date()) return finish();
    if (sim_.now() - progress_at_ns_ > ns_of(scenario.progress_s)) complain_of_no_progress();
  }

  // Ends all faults. From now on rounds must be committed in time.
  void calm_down() {
    sim_.faulty = false;
    progress_at_ns_ = sim_.now();
    incidents_.stop();
  }

  // Whether every machine has the model of the last round and no agent has an undecided
  // contribution.
  bool all_up_to_date() const {
    return coordinator_.running() && coordinator_.machine().model_version() == rounds_ &&
           std::ranges::all_of(agents_, [&](const auto& agent) {
             return agent->running() && agent->machine().model_version() == rounds_ &&
                    agent->machine().undecided().empty();
           });
  }

  // At the end all machines lose their power at once. After the restart they must have the same
  // state.
  void finish() {
    if (last_restart_) {
      over_ = true;
      return;
    }
    last_restart_ = true;
    sim_.budget.finish(sim_.now());
    progress_at_ns_ = sim_.now();
    const Ending ending = {.fault = {}, .power_cut = true, .down_ns = 100 * kMs};
    coordinator_.kill(ending);
    for (const auto& agent : agents_) agent->kill(ending);
    if (aggregator_) aggregator_->host.kill(ending);
  }

  // The report names the agents that are behind, as far as its length allows.
  void complain_of_no_progress() {
    std::string agents_behind;
    for (std::uint32_t i = 0; i < agents_.size() && agents_behind.size() < 200; ++i) {
      const AgentHost& agent = *agents_[i];
      if (!agent.running()) {
        agents_behind += fmt::format("; {} is down", Ledger::agent_name(i));
      } else if (agent.machine().model_version() != rounds_ ||
                 !agent.machine().undecided().empty()) {
        agents_behind +=
            fmt::format("; {} is {}, at version {}, with {} undecided; {}", Ledger::agent_name(i),
                        agent.machine().connected() ? "connected" : "not connected",
                        agent.machine().model_version(), agent.machine().undecided().size(),
                        coordinator_view_of(Ledger::agent_name(i)));
      }
    }
    sim_.watch.report(
        sim_.now(), "progress",
        fmt::format("{} s without faults and without progress after round {} of {}; coordinator "
                    "{}{}",
                    sim_.scenario.progress_s, rounds_, sim_.scenario.rounds,
                    coordinator_.running() ? "runs" : "is down", agents_behind));
  }

  std::string coordinator_view_of(const std::string& agent) const {
    if (!coordinator_.running()) return "the coordinator is down";
    for (const Coordinator::AgentView& view : coordinator_.machine().agents()) {
      if (view.agent_id != agent) continue;
      return fmt::format("the coordinator has it {} at version {}",
                         view.ready ? "ready" : "catching up", view.model_version);
    }
    return "the coordinator does not know it";
  }

  SimReport report() {
    SimReport report;
    report.seed = sim_.seed;
    count_faults();
    report.violations = sim_.watch.count();
    report.found = sim_.watch.violations();
    report.rounds_committed = rounds_;
    report.collectives = sim_.ledger.collectives();
    report.faults = sim_.tally.counts();
    for (const auto& [note, count] : sim_.notes.counts()) {
      report.notes.emplace(fmt::format("{}.{}", note.first, note.second), count);
    }
    report.virtual_s = static_cast<double>(sim_.now()) * 1e-9;
    report.events = sim_.queue.done();
    report.messages = sim_.sent.links.messages;
    report.bytes = sim_.sent.links.bytes;
    for (std::size_t kind = 0; kind < sim_.sent.message_bytes.size(); ++kind) {
      if (sim_.sent.message_bytes[kind] == 0) continue;
      report.bytes_by_message[wire::EnumNameMessage(static_cast<wire::Message>(kind))] =
          sim_.sent.message_bytes[kind];
    }
    if (sim_.sent.packet_bytes != 0) report.bytes_by_message["packets"] = sim_.sent.packet_bytes;
    if (sim_.sent.peer_bytes != 0) report.bytes_by_message["peers"] = sim_.sent.peer_bytes;
    report.conservation_error_max = sim_.ledger.conservation_error_max();
    report.budget = sim_.budget.tally();
    report.queue_s_max = static_cast<double>(sim_.sent.links.queue_ns_max) * 1e-9;
    report.state_hash = state_hash();
    report.models_hash = hash64(bytes_of(std::span(sim_.ledger.model_hashes())));
    return report;
  }

  void count_faults() {
    const LinkTally& traffic = sim_.sent.links;
    sim_.tally.add("loss", traffic.lost);
    sim_.tally.add("duplication", traffic.duplicated);
    sim_.tally.add("reordering", traffic.reordered);
    sim_.tally.add("bit_flip", traffic.flipped);
    sim_.tally.add("cut_off", traffic.cut_off);
    sim_.tally.add("held_up", traffic.held_up);
    sim_.tally.add("delay", traffic.slowed);
    if (aggregator_) {
      sim_.tally.add("packet_loss", aggregator_->sums.tally().lost);
      sim_.tally.add("packet_repeat", aggregator_->sums.tally().duplicated);
    }
    sim_.tally.add("round_lost", sim_.ledger.rounds_lost());
    sim_.tally.add("residual_dropped", sim_.ledger.residuals_dropped());
    sim_.tally.add("sums_value_lost", sim_.ledger.sums_values_lost());
    count_disk(coordinator_.disk().tally());
    for (const auto& agent : agents_) count_disk(agent->disk().tally());
  }

  void count_disk(const DiskTally& disk) {
    sim_.tally.add("failed_write", disk.failed_writes);
    sim_.tally.add("failed_sync", disk.failed_syncs);
    sim_.tally.add("no_space", disk.full);
    sim_.tally.add("lost_write", disk.lost_writes);
    sim_.tally.add("torn_write", disk.torn_writes);
  }

  // Depends on everything that must be equal in a repeated run.
  std::uint64_t state_hash() const {
    Checksum sum;
    const auto add = [&](std::uint64_t value) {
      sum.update({reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
    };
    add(sim_.path);
    add(sim_.queue.done());
    add(rounds_);
    for (const auto& [kind, count] : sim_.tally.counts()) add(count);
    add(coordinator_.running() ? coordinator_.machine().state_hash() : 0);
    for (const auto& agent : agents_) add(agent->running() ? agent->machine().state_hash() : 0);
    return sum.finish64();
  }

  const SimOptions& options_;
  SimulationContext sim_;
  SimulatedNetwork network_;
  PeerNetwork peers_;
  CoordinatorHost coordinator_;
  std::unique_ptr<AggregatorParts> aggregator_;
  AgentHosts agents_;
  Incidents incidents_;
  std::uint64_t rounds_ = 0;
  TimeNs progress_at_ns_ = 0;
  bool last_restart_ = false;
  bool over_ = false;
};

}  // namespace

Result<SimReport> simulate(const Scenario& scenario, const SimOptions& options) {
  Simulation simulation(scenario, options);
  return simulation.run();
}

}  // namespace tributary
