// Simulates training over a changing link in virtual time: a plan that follows the link, compared
// with plans that never change. The true time of a round is the cost model's over the actual link,
// times factors that the planner does not know and must learn. The planner knows the measurements
// of the round before, with noise.
//
// All functions are deterministic: the noise has a fixed seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/net/shaped/trace.h"
#include "core/plan/decide.h"

namespace tributary::bench {

// The world of a simulated training.
struct ChangingLink {
  LinkTrace trace;                // an agent's link, with half of the latency between two agents
  double seconds_per_step = 1;    // seconds per second of the trace: stretches it
  PlanInputs inputs;              // all inputs except links and gain, which change
  std::vector<GainPoints> gains;  // over the training, divided into equal parts
};

// The result of one training.
struct Course {
  std::string name;
  double seconds = 0;  // until the target is reached
  std::uint64_t rounds = 0;
  std::uint64_t switches = 0;
  std::vector<std::string> reasons = {};  // one per switch
};

// The gain that a fixed choice has accumulated after this many seconds.
double gain_after(const ChangingLink& world, const PlanChoice& choice, double seconds);

// Run until the sum of the rounds' gains reaches `target`, but at most kRoundsMax rounds.
inline constexpr std::uint64_t kRoundsMax = 2'000'000;
Course run_fixed(const ChangingLink& world, const PlanChoice& choice, double target);
Course run_adaptive(const ChangingLink& world, double target);

}  // namespace tributary::bench
