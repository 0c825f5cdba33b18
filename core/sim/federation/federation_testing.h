// A simulated federation that a test drives step by step: the simulator's hosts, links and peer
// connections on virtual time, with journals in memory. The test causes the faults. A run depends
// only on the options, which include the seed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/sim/federation/conservation_testing.h"
#include "core/sim/federation/federation_agent_testing.h"
#include "core/sim/federation/federation_context_testing.h"
#include "core/sim/federation/federation_coordinator_testing.h"
#include "core/sim/federation/federation_options_testing.h"
#include "core/sim/federation/machine_log_testing.h"
#include "core/sim/federation/peer_faults_testing.h"

namespace tributary::sim_testing {

class Federation {
 public:
  explicit Federation(Options options)
      : options_(std::move(options)),
        map_(layers_of(options_)),
        scenario_(scenario_of(options_, map_)),
        sim_(scenario_, options_.seed, Mutation::none),
        network_(sim_),
        peer_network_(sim_),
        peers(peer_network_, options_.seed),
        context_{options_, map_, log, peers, twist},
        coordinator_(sim_, network_, context_) {
    std::vector<Receiver*> receivers;
    std::vector<PeerNetwork::Handler> peer_handlers;
    for (std::uint32_t i = 0; i < options_.agents; ++i) {
      agents_.push_back(
          std::make_unique<FederationAgent>(sim_, network_, peer_network_, i, context_));
      FederationAgent& agent = *agents_.back();
      receivers.push_back(&agent);
      peer_handlers.emplace_back([&agent](const Event& event) { agent.handle(event); });
    }
    network_.attach(coordinator_, std::move(receivers));
    peer_network_.attach(std::move(peer_handlers));
    set_rates();
    coordinator_.start();
    for (const auto& agent : agents_) agent->start();
  }

  std::uint64_t values() const { return map_.values(); }
  TimeNs now() const { return sim_.now(); }
  // The processes, which may be down, and the machines of running processes.
  FederationCoordinator& coordinator_host() { return coordinator_; }
  FederationAgent& host(std::uint32_t i) { return *agents_[i]; }
  const Coordinator& coordinator() const { return coordinator_.machine(); }
  const Agent& agent(std::uint32_t i) const { return agents_[i]->machine(); }
  const MemoryCoordinatorJournal& journal() const { return coordinator_.journal; }
  int noted(const std::string& name) const { return log.noted(name); }
  // The most bytes at one time.
  struct Peaks {
    std::uint64_t incoming = 0;  // payloads in flight to the coordinator, or held there in parts
    std::uint64_t outgoing = 0;  // in flight to all agents
  };
  const Peaks& peaks() const { return peaks_; }

  // --- faults and changes ---
  // Runs `what` at this virtual time.
  void at(TimeNs when, std::function<void()> what) { sim_.queue.at(when, std::move(what)); }
  void crash_coordinator() { coordinator_.crash(); }
  void start_coordinator() { coordinator_.start(); }
  void crash_agent(std::uint32_t i) { agents_[i]->crash(); }
  void start_agent(std::uint32_t i) { agents_[i]->start(); }
  // The same process opens a second connection.
  void reconnect_agent(std::uint32_t i) {
    network_.hang_up(i);
    network_.dial(i);
  }
  // Cuts both directions of an agent's link to the coordinator, or ends the cut.
  void set_cut(std::uint32_t i, bool cut) {
    for (Link* const link : {&network_.up(i), &network_.down(i)}) {
      cut ? link->cut_until(kNever) : link->mend();
    }
  }
  // 0: no limit.
  void set_rate(std::uint32_t i, bool up, double bytes_per_s) {
    (up ? network_.up(i) : network_.down(i)).set_rate(LinkRate(mbit_s(bytes_per_s)));
  }
  // Probabilities of loss and repetition, from now on.
  void set_loss(double loss, double repeat) {
    scenario_.network.loss = loss;
    scenario_.network.duplication = repeat;
  }

  // Runs until the condition holds. Returns false if it does not within `for_ns`.
  bool run(const std::function<bool()>& until, TimeNs for_ns = 600'000 * kNsPerMs) {
    const TimeNs end = now() + for_ns;
    while (!until()) {
      if (sim_.queue.empty() || sim_.queue.next_at_ns() > end) return false;
      sim_.queue.run_next();
      check_bounds();
    }
    return true;
  }
  // Runs until this many rounds are committed.
  bool run_rounds(std::uint64_t rounds) {
    return run([&] { return coordinator_.running() && coordinator().model_version() >= rounds; });
  }
  // Runs until all rounds are done and every running agent has applied and stored them.
  bool run_to_the_end() {
    return run([&] {
      if (!coordinator_.running() || coordinator().model_version() < options_.rounds) return false;
      return std::ranges::all_of(agents_, [&](const auto& host) {
        if (!host->running()) return true;
        const Agent& agent = host->machine();
        return agent.model_version() == options_.rounds && agent.undecided().empty() &&
               !host->training() && agent.idle();
      });
    });
  }

  // The state of every machine, for a test that does not reach its end.
  std::string describe() const {
    std::string text = "at " + std::to_string(now() / kNsPerMs) + " ms: coordinator ";
    text += coordinator_.running() ? std::to_string(coordinator().model_version()) : "down";
    for (const auto& host : agents_) {
      text += "; agent ";
      if (!host->running()) {
        text += "down";
        continue;
      }
      const Agent& agent = host->machine();
      text += std::to_string(agent.model_version());
      if (!agent.connected()) text += " offline";
      if (!agent.undecided().empty()) text += " undecided";
      if (host->training()) text += " training";
      if (!agent.idle()) text += " busy";
    }
    return text;
  }

  // --- checks ---
  // Requires that every running agent has the coordinator's model.
  void expect_identical() const {
    for (std::uint32_t i = 0; i < agents_.size(); ++i) {
      if (!agents_[i]->running()) continue;
      ASSERT_NE(agent(i).model(), nullptr);
      EXPECT_EQ(*agent(i).model(), *coordinator().model()) << "agent " << i;
      EXPECT_EQ(agent(i).model_hash(), coordinator().model_hash());
    }
  }
  // Requires that all agents run. The ledger has checked every replica, commit and residual during
  // the run; it must have found nothing. It cannot follow a planner that changes the codec between
  // rounds.
  void expect_conserved(double tolerance = 0) const {
    if (options_.policy.planning.goal == wire::PlanGoal::fixed) {
      for (const Violation& found : sim_.watch.violations()) {
        ADD_FAILURE() << found.invariant << ": " << found.text;
      }
    }
    Conservation conservation(values());
    for (const auto& host : agents_) {
      ASSERT_TRUE(host->running()) << host->host_name();
      ASSERT_EQ(host->updates().size(), host->machine().updates_taken());
      for (const SharedFloats& update : host->updates()) conservation.given(*update);
      ASSERT_TRUE(host->machine().undecided().empty());
      conservation.held_back(host->machine().residual());
    }
    conservation.held_back(coordinator().aggregator_residual());
    const auto job = JobModel::make(journal().state().jobs.at(0).job.definition);
    ASSERT_TRUE(job.ok()) << job.status().text();
    for (const CommitRecord& commit : journal().commits()) conservation.committed(commit, **job);
    conservation.expect_balanced(tolerance);
  }

 private:
  static constexpr double kNoLimitMbitS = 1e9;  // fast enough that a message takes no time

  static double mbit_s(double bytes_per_s) {
    return bytes_per_s > 0 ? bytes_per_s * 8e-6 : kNoLimitMbitS;
  }
  static LayerMap layers_of(const Options& options) {
    if (!options.layers.empty()) return *LayerMap::make(options.layers);
    return *LayerMap::make({{.name = "matrix", .shape = {8, 40}},
                            {.name = "vector", .shape = {options.vector_values}}});
  }
  static Scenario scenario_of(const Options& options, const LayerMap& map) {
    const auto ms = [](TimeNs ns) {
      return static_cast<double>(ns) / static_cast<double>(kNsPerMs);
    };
    Scenario scenario;
    scenario.name = "test";
    scenario.agents = options.agents;
    scenario.rounds = static_cast<std::uint32_t>(options.rounds);
    scenario.job.buckets = 1;
    scenario.job.bucket_values = static_cast<std::uint32_t>(map.values());
    scenario.job.policy = options.policy;
    scenario.network = {.delay = {ms(options.delay_min_ns), ms(options.delay_max_ns)},
                        .rate_mbit_s = kNoLimitMbitS,
                        .loss = options.loss,
                        .duplication = options.repeat,
                        .dial = {2, 2},
                        .hang_up_noticed = 0,
                        .ordered = false,
                        .peer_losses_missed = 0,
                        .peer_losses_late = 0};
    return scenario;
  }

  // The options may give each link a rate of its own.
  void set_rates() {
    if (!options_.bytes_per_s_of) return;
    for (std::uint32_t i = 0; i < options_.agents; ++i) {
      for (const bool up : {false, true}) set_rate(i, up, options_.bytes_per_s_of(i, up));
    }
  }
  // Runs after every event, so that the peak is exact.
  void check_bounds() {
    std::uint64_t incoming = network_.payload_bytes_up();
    if (coordinator_.running()) {
      incoming += coordinator().incoming_bytes();
      peaks_.outgoing = std::max(peaks_.outgoing, coordinator().outgoing_bytes());
      EXPECT_LT(coordinator().buffered_bytes(), 64u << 20);
    }
    peaks_.incoming = std::max(peaks_.incoming, incoming);
  }

  const Options options_;
  const LayerMap map_;
  Scenario scenario_;
  SimulationContext sim_;
  SimulatedNetwork network_;
  PeerNetwork peer_network_;

 public:
  MachineLog log;
  PeerFaults peers;
  UpdateTwist twist;

 private:
  FederationContext context_;
  FederationCoordinator coordinator_;
  std::vector<std::unique_ptr<FederationAgent>> agents_;
  Peaks peaks_;
};

}  // namespace tributary::sim_testing
