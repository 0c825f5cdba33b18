// Causes the incidents of a scenario. The seed assigns a round to each incident, and the incident
// happens shortly after that round has begun. Therefore every kind of incident happens in every
// run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/sim/machines/agent_host.h"
#include "core/sim/machines/aggregator_host.h"
#include "core/sim/machines/coordinator_host.h"
#include "core/sim/machines/network.h"
#include "core/sim/machines/peer_network.h"
#include "core/sim/machines/simulation_context.h"

namespace tributary {

using AgentHosts = std::vector<std::unique_ptr<AgentHost>>;

// Not thread-safe. All references must outlive it.
class Incidents {
 public:
  // The aggregator in the network; both are null without one.
  struct AggregatorPart {
    AggregatorHost* host = nullptr;
    SumsNetwork* sums = nullptr;
  };
  Incidents(SimulationContext& sim, SimulatedNetwork& network, PeerNetwork& peers,
            CoordinatorHost& coordinator, AgentHosts& agents, AggregatorPart aggregator);

  // Starts all machines except the agents that join late.
  void begin();
  // Causes the incidents of the round that begins now.
  void round_begins(std::uint64_t round);
  // Ends all faults that are in effect and causes no more incidents.
  void stop();

 private:
  // Causes one incident now.
  void happen(Incident incident);
  void happen_to_agent(Incident incident, std::uint32_t agent, TimeNs duration);
  void happen_to_aggregator(Incident incident, TimeNs duration);
  void happen_to_disk(Incident incident, TimeNs duration);
  void cut_off(TimeNs duration);
  void make_noise(std::uint32_t agent);
  void send_twin(std::uint32_t agent);
  void join_late();
  // Makes some clocks run faster or slower.
  void skew_clocks();
  std::uint32_t some_agent();
  std::uint32_t some_running_agent();

  SimulationContext& sim_;
  SimulatedNetwork& network_;
  PeerNetwork& peers_;
  CoordinatorHost& coordinator_;
  AgentHosts& agents_;
  const AggregatorPart aggregator_;
  SeededDraws draws_;
  std::multimap<std::uint64_t, Incident> planned_;  // by round
  std::vector<std::uint32_t> late_;                 // agents that have not joined yet
  bool stopped_ = false;
};

}  // namespace tributary
