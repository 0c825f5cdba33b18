#include "core/sim/machines/incidents.h"

#include <algorithm>

#include "core/sim/checks/ledger.h"
#include "core/sim/link/hostile.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

// An incident happens at most this long after the beginning of its round.
constexpr TimeNs kWithinNs = 150 * kMs;

}  // namespace

Incidents::Incidents(SimulationContext& sim, SimulatedNetwork& network, PeerNetwork& peers,
                     CoordinatorHost& coordinator, AgentHosts& agents, AggregatorPart aggregator)
    : sim_(sim),
      network_(network),
      peers_(peers),
      coordinator_(coordinator),
      agents_(agents),
      aggregator_(aggregator),
      draws_(sim.seed, DrawUse::schedule, 0) {
  const std::uint64_t last = std::min(sim.scenario.faults_until_round, sim.scenario.rounds);
  for (std::size_t kind = 0; kind < kIncidents; ++kind) {
    const std::uint32_t count = sim.scenario.incidents[kind].count;
    for (std::uint32_t i = 0; i < count; ++i) {
      // The incidents are spread evenly: each happens in its own share of the rounds.
      const double place = (static_cast<double>(i) + draws_.uniform()) / count;
      planned_.emplace(1 + static_cast<std::uint64_t>(place * static_cast<double>(last)),
                       static_cast<Incident>(kind));
    }
  }
}

void Incidents::begin() {
  skew_clocks();
  const auto join = sim_.scenario.incidents[static_cast<std::size_t>(Incident::late_join)];
  // Enough agents start at once for the rounds to begin.
  const std::uint32_t spare = sim_.scenario.agents - sim_.scenario.job.policy.agents_min;
  const std::uint32_t late = std::min(join.count, spare);
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    if (i + late >= agents_.size()) {
      late_.push_back(i);
    } else {
      sim_.queue.after(draws_.between(0, 50 * kMs), [this, i] { agents_[i]->start(); });
    }
  }
  coordinator_.start();
  if (aggregator_.host) aggregator_.host->start();
  round_begins(1);
}

void Incidents::skew_clocks() {
  const MachineSettings& machines = sim_.scenario.machines;
  for (std::uint32_t i = 0; i < std::min<std::size_t>(machines.skewed_clocks, agents_.size());
       ++i) {
    HostClock& clock = agents_[i * agents_.size() / machines.skewed_clocks]->clock();
    // Every second clock is slow and the others are fast, so that every run has both.
    const double end = i % 2 == 0 ? machines.clock_rate_min : machines.clock_rate_max;
    clock.rate = 1 + (end - 1) * (1 - draws_.uniform());
    sim_.tally.add(clock.rate < 1 ? "slow_clock" : "fast_clock");
  }
}

// Also causes the incidents of rounds that were skipped because several rounds were committed at
// once.
void Incidents::round_begins(std::uint64_t round) {
  const auto end = planned_.upper_bound(round);
  for (auto it = planned_.begin(); it != end; ++it) {
    sim_.queue.after(draws_.between(0, kWithinNs), [this, incident = it->second] {
      if (!stopped_) happen(incident);
    });
  }
  planned_.erase(planned_.begin(), end);
}

void Incidents::stop() {
  stopped_ = true;
  planned_.clear();
  network_.mend_all();
  peers_.mend_all();
  if (aggregator_.host) {
    aggregator_.sums->mend_all();
    aggregator_.host->cancel_planned();
  }
  coordinator_.cancel_planned();
  coordinator_.cancel_kill_before_publish();
  coordinator_.disk().set_faults({});
  for (const auto& agent : agents_) {
    agent->cancel_planned();
    agent->disk().set_faults({});
  }
  // Agents that would have joined later must be present at the end.
  while (!late_.empty()) join_late();
}

std::uint32_t Incidents::some_agent() {
  return static_cast<std::uint32_t>(draws_.below(agents_.size()));
}

// Nothing can happen to an agent that is down, so the next running agent is chosen.
std::uint32_t Incidents::some_running_agent() {
  const std::uint32_t first = some_agent();
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    const auto agent = static_cast<std::uint32_t>((first + i) % agents_.size());
    if (agents_[agent]->running()) return agent;
  }
  return first;
}

// Incidents of the coordinator, the disks and the whole network. All others happen to a running
// agent.
void Incidents::happen(Incident incident) {
  const TimeNs duration =
      draw_ns(sim_.scenario.incidents[static_cast<std::size_t>(incident)].duration, draws_);
  switch (incident) {
    case Incident::coordinator_kill:
      return coordinator_.kill_after_actions(
          draws_.below(200), {.fault = name(incident), .power_cut = false, .down_ns = duration});
    case Incident::coordinator_power_cut:
      return coordinator_.cut_power_after_operations(
          draws_.below(40), {.fault = name(incident), .power_cut = true, .down_ns = duration});
    case Incident::kill_before_publish:
      return coordinator_.kill_before_publish(duration);
    case Incident::partition:
      return cut_off(duration);
    case Incident::late_join:
      return join_late();
    case Incident::peer_break:
      return peers_.break_some(1 + draws_.below(3));
    case Incident::aggregator_kill:
    case Incident::tampered_sums:
      return happen_to_aggregator(incident, duration);
    case Incident::disk_full:
    case Incident::disk_failure:
      return happen_to_disk(incident, duration);
    default:
      return happen_to_agent(incident, some_running_agent(), duration);
  }
}

// Incidents of one agent.
void Incidents::happen_to_agent(Incident incident, std::uint32_t agent, TimeNs duration) {
  AgentHost& host = *agents_[agent];
  switch (incident) {
    case Incident::agent_kill:
      return host.kill_after_actions(
          draws_.below(40), {.fault = name(incident), .power_cut = false, .down_ns = duration});
    case Incident::agent_power_cut:
      return host.cut_power_after_operations(
          draws_.below(40), {.fault = name(incident), .power_cut = true, .down_ns = duration});
    case Incident::agent_leave:
      return host.leave(duration);
    case Incident::straggler:
      // The training misses the deadline by `duration`.
      return host.train_slowly(1, sim_.scenario.job.policy.deadline_ms * kMs + duration);
    case Incident::training_failure:
      return host.fail_training(1);
    case Incident::slow_link:
      sim_.tally.add(name(incident));
      peers_.slow_until(agent, sim_.now() + duration, 1000 * kMs);
      network_.up(agent).slow_until(sim_.now() + duration, 1000 * kMs);
      return network_.down(agent).slow_until(sim_.now() + duration, 1000 * kMs);
    case Incident::lying_agent:
      return network_.let_lie(agent, 1 + static_cast<std::uint32_t>(draws_.below(8)));
    case Incident::lying_peer:
      return peers_.let_lie(agent, 1 + static_cast<std::uint32_t>(draws_.below(4)));
    case Incident::garbage:
      return make_noise(agent);
    case Incident::twin_agent:
      return send_twin(agent);
    case Incident::replay:
      sim_.tally.add(name(incident));
      return network_.replay(agent);
    default:
      return;
  }
}

// Nothing happens without an aggregator.
void Incidents::happen_to_aggregator(Incident incident, TimeNs duration) {
  if (!aggregator_.host) return;
  if (incident == Incident::aggregator_kill) {
    return aggregator_.host->kill(
        {.fault = name(incident), .power_cut = false, .down_ns = duration});
  }
  sim_.tally.add(name(incident));
  aggregator_.sums->let_lie(1 + static_cast<std::uint32_t>(draws_.below(3)));
}

void Incidents::happen_to_disk(Incident incident, TimeNs duration) {
  sim_.tally.add(name(incident));
  VirtualDisk& disk =
      draws_.chance(0.3) ? coordinator_.disk() : agents_[some_running_agent()]->disk();
  DiskFaults faults;
  if (incident == Incident::disk_full) {
    faults.capacity_bytes = disk.used_bytes();  // nothing more fits
    faults.copies_on_write = draws_.chance(0.7);
  } else {
    faults.write_failure = 0.1;
    faults.sync_failure = 0.2;
    faults.next_sync_fails = true;  // so that at least one sync fails
  }
  disk.set_faults(faults);
  sim_.queue.after(duration, [&disk] { disk.set_faults({}); });
}

// Separates up to a quarter of the agents from the coordinator, from each other agent, or both.
void Incidents::cut_off(TimeNs duration) {
  sim_.tally.add(name(Incident::partition));
  const std::uint64_t count = 1 + draws_.below(std::max<std::size_t>(1, agents_.size() / 4));
  const std::uint32_t first = some_agent();
  // Both directions, one of them, or only the links among agents.
  const std::uint64_t kind = draws_.below(sim_.scenario.by_peers() ? 4 : 3);
  std::vector<std::uint32_t> cut;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto agent = static_cast<std::uint32_t>((first + i) % agents_.size());
    cut.push_back(agent);
    const TimeNs until = sim_.now() + duration;
    if (aggregator_.sums) aggregator_.sums->cut_off(agent, until);
    if (kind == 3) continue;
    sim_.budget.disturbed(agent, until);
    if (kind != 1) network_.up(agent).cut(sim_.now(), until);
    if (kind != 2) network_.down(agent).cut(sim_.now(), until);
    if (draws_.chance(0.5)) continue;  // the connection survives the partition
    sim_.queue.after(duration, [this, agent] {
      network_.hang_up(agent);
      network_.dial(agent);
    });
  }
  peers_.cut_off(cut, sim_.now() + duration);
}

void Incidents::make_noise(std::uint32_t agent) {
  sim_.tally.add(name(Incident::garbage));
  for (std::uint64_t i = draws_.below(20) + 1; i > 0; --i) {
    // One draw per statement, because compilers evaluate the arguments of a call in different
    // orders.
    Message message = noise(draws_);
    network_.intrude(std::move(message), draws_.chance(0.5) ? "stranger" : "");
    message = noise(draws_);
    network_.disturb(agent, draws_.chance(0.5), std::move(message));
  }
}

// Sends a Hello of a second process with the agent's identity.
void Incidents::send_twin(std::uint32_t agent) {
  Message hello = network_.hello(agent);
  if (hello.frame.empty()) return;
  wire::FrameT frame;
  wire::GetFrame(hello.frame.data())->UnPackTo(&frame);
  frame.message.AsHello()->incarnation = draws_.bits() | 1;  // another process
  frame.message.AsHello()->holdings.clear();
  Result<Bytes> built = build_frame(frame);
  if (!built.ok()) return;
  sim_.tally.add(name(Incident::twin_agent));
  hello.frame = std::move(*built);
  network_.intrude(std::move(hello), Ledger::agent_name(agent));
}

void Incidents::join_late() {
  if (late_.empty()) return;
  sim_.tally.add(name(Incident::late_join));
  agents_[late_.back()]->start();
  late_.pop_back();
}

}  // namespace tributary
