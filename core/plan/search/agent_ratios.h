// Where lines differ, who has a slow one keeps less, so that nobody is held back by it. Only for
// payloads that everybody fills with places of its own and that go to the coordinator: sums along a
// way have to agree on places. What a slow agent holds back stays its residual, and its weight is
// what it was: less of its update gets through in a round, and none of it counts less.
#pragma once

#include <vector>

#include "core/plan/inputs/inputs.h"

namespace tributary {

// What a share weighs: of a whole update, as it goes up, and of what comes down to everybody.
struct RatioBytes {
  double ratio = 1;
  double up = 0;
  double down = 0;
};

// By agent, at most the ratio that was given and at least the policy's least; who has a line that
// is not slower than the middle one's by as much as a line has to change to count (link_change), or
// has one that nobody has measured, keeps all of it. Nobody keeps so little that its way up would
// be shorter than its way down, because that saves no time. Empty: all keep the ratio.
std::vector<double> agent_ratios(const PlanInputs& inputs, const RatioBytes& bytes);

// Seconds a byte takes on the way up and down, as far as they are known.
struct AgentLine {
  double up = 0;
  double down = 0;
};
AgentLine line_of(const PlanAgent& agent);

}  // namespace tributary
