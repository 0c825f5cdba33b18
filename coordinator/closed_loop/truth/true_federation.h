// The truth that a closed loop hides from its planner: links over time, training times, presence,
// and the factors by which codecs and collectives deviate from the inputs of the planner.
//
// Everything is drawn from the scenario and a seed, and does not change afterwards. Threads may
// share an object.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/closed_loop/truth/link_line.h"
#include "coordinator/closed_loop/truth/plan_scenario.h"
#include "core/cost/exchange_shape.h"
#include "core/plan/inputs/inputs.h"

namespace tributary {

struct TrueAgent {
  std::string id = {};
  LinkLine up = {};
  LinkLine down = {};
  LinkLine peers = {};  // in each direction
  double training_s = 0;
  // Present for the first part of every period. A period of 0 is for agents that never leave.
  double period_s = 0;
  double present_s = 0;
  double phase_s = 0;

  bool present(double at_s) const;
  double next_change_s(double at_s) const;  // of presence or of a link
};

struct TrueFederation {
  std::vector<TrueAgent> agents = {};
  LinkLine coordinator = {};
  bool peers_reachable = true;
  bool peers_share_ports = false;  // whether traffic among agents uses their uplinks and downlinks
  double cpu_slowdown = 1;         // of the agents
  double overhead_s = 0;
  double agreement = 0.5;                         // see PlanInputs::agreement
  std::map<std::string, double> codec_time = {};  // factors by spec without ratio
  std::map<std::string, double> payload_size = {};
  std::array<double, static_cast<std::size_t>(wire::Collective::MAX) + 1> collective_time = {};
  std::vector<double> reported_speed = {};  // by agent; factor of its reported device speed

  std::vector<std::uint32_t> present(double at_s) const;
  // The first time after `at_s` at which a link changes or an agent comes or goes.
  double next_change_s(double at_s) const;
};

// The lines of a direction with steps that the seed draws are a function of seed and agent.
TrueFederation make_federation(const PlanScenario& scenario, std::uint64_t seed);

// A normal distribution with mean 0 and standard deviation 1.
double draw_normal(SeededDraws& draws);

}  // namespace tributary
