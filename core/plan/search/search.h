// Searches the possible choices for the Pareto set: the choices that no other one beats in
// compression time, exchange time and gain at once.
//
// Codecs and collectives are few, so a grid covers all of them with several ratios and bucket
// sizes, and no pair is missed by chance. NSGA-II (pagmo) starts from the grid's Pareto set and
// finds ratios and sizes between the grid points. The same inputs and options give the same set,
// because all draws come from a fixed seed. The functions have no state.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/search/predict.h"

namespace tributary {

// A choice and its predicted cost.
struct PlanOption {
  PlanChoice choice;
  PlanCost cost;

  friend bool operator==(const PlanOption&, const PlanOption&) = default;
};

// The effort of a search. Larger values find more options between the grid points and take longer.
struct PlanSearchOptions {
  std::uint32_t ratios = 9;        // grid points between ratio_min and ratio_max
  std::uint32_t population = 48;   // must be a multiple of 4 (pagmo's NSGA-II)
  std::uint32_t generations = 20;  // 0: only the grid
  std::uint64_t seed = 1;
};

// Bound on the size of the returned set.
inline constexpr std::size_t kParetoMax = 128;

// Returns the set in ascending order of round time. It is never empty. `inputs` must have passed
// check(), and `predictor` must belong to `inputs`.
std::vector<PlanOption> pareto_set(const PlanInputs& inputs, const PlanPredictor& predictor,
                                   const PlanSearchOptions& options = {});

// Returns the options that have the most gain per second in the typical world or in one of a few
// worlds that stand for the others: those among which a decision weighs. Costs are those of all
// worlds. Never empty; cheaper than pareto_set(), which it does not contain.
std::vector<PlanOption> shortlist(const PlanInputs& inputs, const PlanPredictor& predictor,
                                  const PlanSearchOptions& options = {});

// Whether `one` is at least as good as `other` in every respect and better in one.
bool dominates(const PlanCost& one, const PlanCost& other);

}  // namespace tributary
