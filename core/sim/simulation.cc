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
        room_(scenario, options.seed, options.mutation),
        network_(room_),
        peers_(room_),
        coordinator_(room_, network_),
        incidents_(room_, network_, peers_, coordinator_, agents_) {
    room_.notes.on_note(options.on_note);
    std::vector<Receiver*> receivers;
    std::vector<PeerNetwork::Tell> tell_peers;
    for (std::uint32_t i = 0; i < scenario.agents; ++i) {
      agents_.push_back(std::make_unique<AgentHost>(room_, network_, peers_, i));
      AgentHost& agent = *agents_.back();
      receivers.push_back(&agent);
      tell_peers.emplace_back([&agent](const Event& event) { agent.handle(event); });
    }
    network_.attach(coordinator_, std::move(receivers));
    peers_.attach(std::move(tell_peers));
  }

  // Runs until everything is done or the first violation. `path` hashes the times of all events, so
  // that a run that differs at any point ends with another hash.
  Result<SimReport> run() {
    incidents_.begin();
    look_again();
    while (!room_.queue.empty() && !over_ && room_.watch.count() == 0) {
      room_.queue.run_next();
      room_.path = room_.path * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(room_.now());
      if (room_.ledger.rounds_committed() != rounds_) TRIBUTARY_TRY(round_committed());
    }
    return report();
  }

 private:
  // A committed round is progress and starts the incidents of the next round.
  Status round_committed() {
    rounds_ = room_.ledger.rounds_committed();
    progress_at_ns_ = room_.now();
    room_.budget.committed(rounds_, room_.now());
    incidents_.round_begins(rounds_ + 1);
    if (options_.progress && !options_.progress(rounds_)) {
      return Status(StatusCode::cancelled, {.what = "simulation"});
    }
    return {};
  }

  void look_again() {
    look();
    room_.queue.after(kLookEveryNs, [this] { look_again(); });
  }

  // Ends the faults when their time is over, and checks bounds, completion and progress.
  void look() {
    const Scenario& scenario = room_.scenario;
    if (room_.faulty && (rounds_ >= std::min(scenario.faults_until_round, scenario.rounds) ||
                         room_.now() >= ns_of(scenario.faults_until_s))) {
      calm_down();
    }
    const std::uint64_t under_way = std::max(network_.under_way_max(), peers_.under_way_max());
    if (under_way > kUnderWayMax) {
      room_.watch.report(room_.now(), "bounds",
                         fmt::format("{} messages under way on one link", under_way));
    }
    if (room_.faulty) return;
    if (rounds_ == scenario.rounds && all_are_there()) return finish();
    if (room_.now() - progress_at_ns_ > ns_of(scenario.progress_s)) complain_of_no_progress();
  }

  // Ends all faults. From now on rounds must be committed in time.
  void calm_down() {
    room_.faulty = false;
    progress_at_ns_ = room_.now();
    incidents_.stop();
  }

  // Whether every machine has the model of the last round and no agent has an undecided
  // contribution.
  bool all_are_there() const {
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
    room_.budget.finish(room_.now());
    progress_at_ns_ = room_.now();
    const Ending ending = {.fault = {}, .power_cut = true, .down_ns = 100 * kMs};
    coordinator_.kill(ending);
    for (const auto& agent : agents_) agent->kill(ending);
  }

  // The report names the agents that are behind, as far as its length allows.
  void complain_of_no_progress() {
    std::string who;
    for (std::uint32_t i = 0; i < agents_.size() && who.size() < 200; ++i) {
      const AgentHost& agent = *agents_[i];
      if (!agent.running()) {
        who += fmt::format("; {} is down", Ledger::agent_name(i));
      } else if (agent.machine().model_version() != rounds_ ||
                 !agent.machine().undecided().empty()) {
        who +=
            fmt::format("; {} is {}, at version {}, with {} undecided; {}", Ledger::agent_name(i),
                        agent.machine().connected() ? "connected" : "not connected",
                        agent.machine().model_version(), agent.machine().undecided().size(),
                        as_the_coordinator_sees(Ledger::agent_name(i)));
      }
    }
    room_.watch.report(
        room_.now(), "progress",
        fmt::format("{} s without faults and without progress after round {} of {}; coordinator "
                    "{}{}",
                    room_.scenario.progress_s, rounds_, room_.scenario.rounds,
                    coordinator_.running() ? "runs" : "is down", who));
  }

  std::string as_the_coordinator_sees(const std::string& agent) const {
    if (!coordinator_.running()) return "nobody knows of it";
    for (const Coordinator::AgentView& view : coordinator_.machine().agents()) {
      if (view.agent_id != agent) continue;
      return fmt::format("the coordinator has it {} at version {}",
                         view.ready ? "ready" : "catching up", view.model_version);
    }
    return "the coordinator does not know it";
  }

  SimReport report() {
    SimReport report;
    report.seed = room_.seed;
    count_faults();
    report.violations = room_.watch.count();
    report.found = room_.watch.violations();
    report.rounds_committed = rounds_;
    report.collectives = room_.ledger.collectives();
    report.faults = room_.tally.counts();
    for (const auto& [note, count] : room_.notes.counts()) {
      report.notes.emplace(fmt::format("{}.{}", note.first, note.second), count);
    }
    report.virtual_s = static_cast<double>(room_.now()) * 1e-9;
    report.events = room_.queue.done();
    report.messages = room_.sent.links.messages;
    report.bytes = room_.sent.links.bytes;
    for (std::size_t kind = 0; kind < room_.sent.message_bytes.size(); ++kind) {
      if (room_.sent.message_bytes[kind] == 0) continue;
      report.bytes_by_message[wire::EnumNameMessage(static_cast<wire::Message>(kind))] =
          room_.sent.message_bytes[kind];
    }
    if (room_.sent.peer_bytes != 0) report.bytes_by_message["peers"] = room_.sent.peer_bytes;
    report.conservation_error_max = room_.ledger.conservation_error_max();
    report.budget = room_.budget.tally();
    report.queue_s_max = static_cast<double>(room_.sent.links.queue_ns_max) * 1e-9;
    report.state_hash = state_hash();
    return report;
  }

  void count_faults() {
    const LinkTally& traffic = room_.sent.links;
    room_.tally.add("loss", traffic.lost);
    room_.tally.add("duplication", traffic.duplicated);
    room_.tally.add("reordering", traffic.reordered);
    room_.tally.add("bit_flip", traffic.flipped);
    room_.tally.add("cut_off", traffic.cut_off);
    room_.tally.add("held_up", traffic.held_up);
    room_.tally.add("delay", traffic.slowed);
    count_disk(coordinator_.disk().tally());
    for (const auto& agent : agents_) count_disk(agent->disk().tally());
  }

  void count_disk(const DiskTally& disk) {
    room_.tally.add("failed_write", disk.failed_writes);
    room_.tally.add("failed_sync", disk.failed_syncs);
    room_.tally.add("no_space", disk.full);
    room_.tally.add("lost_write", disk.lost_writes);
    room_.tally.add("torn_write", disk.torn_writes);
  }

  // Depends on everything that must be equal in a repeated run.
  std::uint64_t state_hash() const {
    Checksum sum;
    const auto add = [&](std::uint64_t value) {
      sum.update({reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
    };
    add(room_.path);
    add(room_.queue.done());
    add(rounds_);
    for (const auto& [kind, count] : room_.tally.counts()) add(count);
    add(coordinator_.running() ? coordinator_.machine().state_hash() : 0);
    for (const auto& agent : agents_) add(agent->running() ? agent->machine().state_hash() : 0);
    return sum.finish64();
  }

  const SimOptions& options_;
  Room room_;
  SimulatedNetwork network_;
  PeerNetwork peers_;
  CoordinatorHost coordinator_;
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
