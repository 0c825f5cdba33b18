// One possible state of everything that a plan cannot know exactly: links, overhead, and the
// factors by which the cost model errs on these machines.
//
// A belief is a list of such worlds, all equally probable. They are stored with the inputs of a
// plan, so a stored decision can be repeated. Rates are in seconds per byte and all values are
// above 0. All functions are pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/cost/exchange_shape.h"
#include "core/link_quality/link_estimate.h"

namespace tributary {

// Seconds per byte of the uplink and the downlink of one agent.
struct AgentLink {
  double up = 0;
  double down = 0;
};

struct PlanWorld {
  struct Link {
    double alpha_s = 0;  // one-way latency to the coordinator
    AgentLink rate = {};
  };
  std::vector<Link> links = {};   // by agent
  LinkEstimate peers = {};        // the slowest link between two agents
  double hub_s_per_byte = 0;      // the coordinator's own link; 0: no limit
  double overhead_s = 0;          // time of each round beside training and exchange
  std::vector<double> cpu = {};   // factor of a codec's CPU time, by codec
  std::vector<double> size = {};  // factor of a codec's payloads, by codec
  // Factor of the exchange time, by codec and collective: times[times_place(codec, collective)].
  std::vector<double> times = {};
  // The same for the exchange with an aggregator in the network, which has one codec.
  double in_network = 1;

  // The slowest of `links`, separately for each quantity. summarize() sets it.
  Link slowest = {};
  void summarize();
};

// A place in PlanWorld::times. `collective` is one of kCollectives.
inline std::size_t times_place(std::size_t codec, wire::Collective collective) {
  return codec * kCollectives.size() + static_cast<std::size_t>(collective) -
         static_cast<std::size_t>(kCollectives.front());
}

// Calls `visit` with every value of a world, in the order of journals.
template <class World, class Visit>
void visit_values(World& world, const Visit& visit) {
  for (auto& link : world.links) {
    visit(link.alpha_s);
    visit(link.rate.up);
    visit(link.rate.down);
  }
  visit(world.peers.alpha_s);
  visit(world.peers.beta_s_per_byte);
  visit(world.hub_s_per_byte);
  visit(world.overhead_s);
  for (auto* factors : {&world.cpu, &world.size, &world.times}) {
    for (auto& factor : *factors) visit(factor);
  }
  visit(world.in_network);
}

// The logarithms of all values in thousandths, in a fixed order, and back. An unlimited rate or a
// missing overhead is kept as kNoLog. Journals contain these numbers.
inline constexpr int kNoLog = -1'000'000;
std::vector<int> logs_of(const PlanWorld& world);
// Returns false if `logs` has not the length for this number of agents and codecs. Earlier releases
// stored no factor for aggregators in the network; it is then 1.
bool world_of(const std::vector<int>& logs, std::size_t agents, std::size_t codecs,
              PlanWorld& world);

// The geometric mean of each value. Requires at least one world, all with the same lengths.
PlanWorld typical_world(const std::vector<PlanWorld>& worlds);

// The median of a quantity over the worlds of a belief, and the range that holds it in nine of ten.
struct BeliefBand {
  double low = 0;
  double median = 0;
  double high = 0;
};

// Returns the band of values of which each is equally probable. Requires at least one.
BeliefBand band_of(std::vector<double> values);

}  // namespace tributary
