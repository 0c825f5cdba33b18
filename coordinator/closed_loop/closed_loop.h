// Runs a planner in a closed loop: the planner decides from what a coordinator would see of the
// true rounds, and its choice makes the next ones.
//
// Planner, link estimates and settings are those of the coordinator (coordinator/planning,
// coordinator/links). The same scenario and seed give the same run. Independent runs may use
// different threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/closed_loop/truth/plan_scenario.h"
#include "coordinator/closed_loop/truth/true_federation.h"
#include "core/base/status.h"
#include "core/plan/inputs/inputs.h"

namespace tributary {

// A decision that changed codec, collective, ratio or bucket size.
struct LoopDecision {
  std::uint64_t round = 0;  // after which it was made
  double at_s = 0;
  PlanChoice choice = {};
  std::string reason = {};
};

struct LoopResult {
  double seconds = 0;  // virtual time to the goal
  bool reached = false;
  std::uint64_t rounds = 0;
  std::uint64_t switches = 0;  // changes of the codec, without its ratio, or of the collective
  std::vector<LoopDecision> decisions = {};
};

// The choice before the first decision, as for a planned job that names no codec.
PlanChoice first_choice(const PlanScenario& scenario);

// Returns the planner's error, or `cancelled` if `go_on`, which is called after every round,
// returns false.
Result<LoopResult> run_closed_loop(const PlanScenario& scenario, const TrueFederation& federation,
                                   std::uint64_t seed, const std::function<bool()>& go_on = {});

}  // namespace tributary
