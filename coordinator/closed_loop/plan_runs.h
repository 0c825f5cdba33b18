// Runs many seeds of one scenario in closed loops, on several threads, and compares each with every
// fixed choice in hindsight and with an oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/closed_loop/closed_loop.h"
#include "coordinator/closed_loop/hindsight.h"
#include "coordinator/closed_loop/truth/plan_scenario.h"

namespace tributary {

struct PlanRunsRequest {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
  std::size_t threads = 1;
  // Without hindsight only the planner runs.
  bool hindsight = true;
  // Receives the number of finished seeds; returns false to stop. Called by one thread at a time.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress = {};
};

// A fixed choice that was played round by round, to verify its time in hindsight.
struct Verified {
  PlanChoice choice = {};
  double hindsight_s = 0;
  double played_s = 0;

  // Relative, without sign.
  double error() const;
};

struct PlanRun {
  std::uint64_t seed = 0;
  LoopResult planner = {};
  HindsightResult hindsight = {};  // empty without hindsight
  std::vector<Verified> verified = {};

  double best_fixed_s() const { return hindsight.fixed.front().seconds; }
  double median_fixed_s() const { return hindsight.fixed[hindsight.fixed.size() / 2].seconds; }
  // Time of the planner relative to the best fixed choice; below 1 it was faster.
  double to_best() const { return planner.seconds / best_fixed_s(); }
};

// One in this many of the fixed choices that take at most kVerifiedTimesMax times as long as the
// best one is played as well. Slower choices are no alternatives, and their rounds are so long that
// few of them decide.
inline constexpr std::size_t kVerifiedEvery = 20;
inline constexpr double kVerifiedTimesMax = 3;

// Returns one result per seed, in order. Returns the planner's error, or `cancelled` if
// request.progress returned false.
Result<std::vector<PlanRun>> run_plan_seeds(const PlanScenario& scenario,
                                            const PlanRunsRequest& request);

// The middle of the values, the lower one of two. `values` must not be empty.
double median_of(std::vector<double> values);

}  // namespace tributary
