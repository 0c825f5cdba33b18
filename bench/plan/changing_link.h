// Training over a link that changes, played in virtual time: a plan that follows the link beside
// plans that never change. What a round takes is the cost model's with factors that the planner
// does not know and has to learn, over the link as it really is at each moment; what the planner
// knows is what was measured in the round before, with noise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/net/shaped/trace.h"
#include "core/plan/decide.h"

namespace tributary::bench {

struct ChangingLink {
  LinkTrace trace;                // of an agent's line, half of the latency between two of them
  double seconds_per_step = 1;    // of the trace's: stretches it
  PlanInputs inputs;              // all but lines and gain, which change
  std::vector<GainPoints> gains;  // over the training, as equal parts of it
};

struct Course {
  std::string name;
  double seconds = 0;  // until the target
  std::uint64_t rounds = 0;
  std::uint64_t switches = 0;
  std::vector<std::string> reasons = {};  // of the switches
};

// The gain that a fixed choice has added up after so many seconds.
double gain_after(const ChangingLink& world, const PlanChoice& choice, double seconds);

// Until the gains of all rounds add up to `target`; at most kRoundsMax rounds.
inline constexpr std::uint64_t kRoundsMax = 2'000'000;
Course run_fixed(const ChangingLink& world, const PlanChoice& choice, double target);
Course run_adaptive(const ChangingLink& world, double target);

}  // namespace tributary::bench
