// The decision: whether there is a reason to think again, what there is to choose from, what is
// chosen, and one sentence that says why. A pure function, so that a decision can be made again
// from what was stored with it, and comes out the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/inputs/inputs.h"
#include "core/plan/search/search.h"

namespace tributary {

enum class PlanTrigger : std::uint8_t {
  none,        // nothing has changed enough, or not long enough ago
  first,       // there is no choice yet
  impossible,  // the one in force cannot be carried out any more
  membership,
  link,
  cost,  // rounds take another time than was predicted when it was chosen
  gain,
  exploring,  // nothing is chosen anew, but something is to be tried
};

std::string_view name(PlanTrigger trigger);

// Why the inputs are a reason to choose again. With PlanTrigger::none nothing needs to be searched.
PlanTrigger trigger_of(const PlanInputs& inputs, const PlanPredictor& predictor);

struct PlanDecision {
  PlanTrigger trigger = PlanTrigger::none;
  PlanOption chosen = {};
  bool switched = false;  // another choice than the one in force, or the first
  // The budget cannot be kept: what is chosen comes nearest to it.
  bool over_budget = false;
  double pause_s = 0;       // after every round, so that a byte budget lasts
  std::string reason = {};  // one sentence, for people
  // The Pareto set that was chosen from, and the choice in force as it would be now; empty where
  // nothing was searched.
  std::vector<PlanOption> options = {};
  // By agent: the share that each keeps. Empty: all keep the choice's.
  std::vector<double> ratios = {};
  // What agents are to try in the next round, and for how long at most (trials.h).
  std::vector<std::string> trials = {};
  double trial_s = 0;
};

Result<PlanDecision> decide(const PlanInputs& inputs, const PlanSearchOptions& options = {});

// Of a decision that is carried out now: what later inputs are compared with. One that only
// explores leaves that as it is.
PlanBefore in_force(const PlanDecision& decision, const PlanInputs& inputs,
                    const PlanPredictor& predictor);

}  // namespace tributary
