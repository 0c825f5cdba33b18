// Decides which codec, collective, ratio and bucket size a job's next rounds use.
//
// decide() checks whether the inputs give a reason to search again, searches, chooses, and states
// the reason in one sentence. All functions are pure and thread-safe. The same inputs and options
// give the same decision, so a stored decision can be reproduced from the inputs that are stored
// with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/plan/inputs/inputs.h"
#include "core/plan/search/search.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The result of decide(): the choice for the next rounds and everything that is stored or shown
// with it.
struct PlanDecision {
  // As trigger_of(), or `exploration`: no search, but agents are asked to try codecs.
  wire::Trigger trigger = wire::Trigger::unchanged;
  PlanOption chosen = {};
  bool switched = false;  // whether the choice differs from the one in force, or is the first
  // Whether no choice keeps the budget. `chosen` is then the one that exceeds it least.
  bool over_budget = false;
  double pause_s = 0;       // wait after every round that makes a byte budget last
  std::string reason = {};  // one sentence for the operator
  // The Pareto set that was searched. Empty if no search was needed.
  std::vector<PlanOption> options = {};
  // Share of values that each agent keeps, by agent. Empty: all keep the ratio of the choice.
  std::vector<double> ratios = {};
  // For a choice with a rate: the cost of a bit on the downlink, in bits on the uplink
  // (down_weight.h). It is no part of the choice.
  double down_weight = 1;
  // Codecs (PlanCodec::spec) that agents try in the next round, and the time limit for it in
  // seconds (trials.h).
  std::vector<std::string> trials = {};
  double trial_s = 0;
};

// Returns the error of check(inputs) if an input is invalid. A search runs on the caller's thread;
// with the trigger `unchanged` no search runs.
Result<PlanDecision> decide(const PlanInputs& inputs, const PlanSearchOptions& options = {});

// An option that a decision compares.
struct WeighedOption {
  PlanOption option = {};
  // Its value over the worlds of the belief: above 0 if it is worth more than the choice in force,
  // or before the first plan more than the best choice on average. Empty if a budget or missing
  // worlds make decide() compare options by their means alone.
  std::optional<double> value = 0;
};

// Returns the options that decide() compares for these inputs, the choice in force among them if it
// is possible. Never empty. `inputs` must have passed check(), and `predictor` must belong to them.
std::vector<WeighedOption> weighed_options(const PlanInputs& inputs, const PlanPredictor& predictor,
                                           const PlanSearchOptions& options = {});

// Whether `one` is better than `other` by the means over the belief: first by the budget, then by
// the least gain, then by the progress per second.
bool preferred(const PlanPolicy& policy, const PlanOption& one, const PlanOption& other);

// Returns the baseline for later inputs if `decision` takes effect now. A decision that only
// explores keeps the baseline of the choice in force.
PlanBefore in_force(const PlanDecision& decision, const PlanInputs& inputs,
                    const PlanPredictor& predictor);

}  // namespace tributary
