// Evaluates fixed choices on a federation's true links in hindsight, and an oracle that always has
// the best choice of the moment.
//
// It is a model beside the simulation of single rounds (true_rounds.h): each choice has one
// duration of a round for each state of the links, and rounds that a change interrupts continue at
// the new pace. That makes hundreds of choices cheap. `verified` compares it with played rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coordinator/closed_loop/truth/plan_scenario.h"
#include "coordinator/closed_loop/truth/true_federation.h"
#include "core/base/status.h"
#include "core/plan/inputs/inputs.h"

namespace tributary {

// All choices that a planner may make: every codec, with ratios of a grid, every collective, and
// bucket sizes of a grid. Leaves out what needs more than kHindsightMessagesMax messages per round.
inline constexpr double kHindsightMessagesMax = 60'000;
std::vector<PlanChoice> fixed_choices(const PlanScenario& scenario);

struct FixedResult {
  PlanChoice choice = {};
  // Virtual time to the goal. A choice that takes more than kHindsightTimesMax times as long as the
  // best one has that time.
  double seconds = 0;
};
inline constexpr double kHindsightTimesMax = 4;

struct HindsightResult {
  std::vector<FixedResult> fixed = {};  // the fastest first
  double oracle_s = 0;
};

// The durations of rounds by each choice, for each state of the links that was met. Not
// thread-safe; the scenario and the federation must outlive it.
class RoundTimes {
 public:
  RoundTimes(const PlanScenario& scenario, const TrueFederation& federation,
             const std::vector<PlanChoice>& choices);

  // Progress per second of each choice in the state at `at_s`.
  const std::vector<double>& paces(double at_s);

 private:
  std::vector<double> paces_of(const TrueFederation& still) const;

  const PlanScenario& scenario_;
  const TrueFederation& federation_;
  const std::vector<PlanChoice>& choices_;
  std::map<std::vector<double>, std::vector<double>> known_;  // by state
};

// Returns `cancelled` if `go_on`, which is called for every state of the links, returns false.
Result<HindsightResult> look_back(const PlanScenario& scenario, const TrueFederation& federation,
                                  const std::function<bool()>& go_on = {});

// Returns the virtual time to the goal with one choice in every round, played round by round with
// noise.
double play_fixed(const PlanScenario& scenario, const TrueFederation& federation,
                  const PlanChoice& choice, std::uint64_t seed);

}  // namespace tributary
