// What could be chosen, and of that the Pareto set: choices that no other one beats in time to
// compress, time to exchange and gain at once.
//
// Codecs and collectives are few, so all of them are tried at a grid of ratios and bucket sizes,
// and none is missed by chance. Ratios and sizes between the grid's are found by NSGA-II (pagmo),
// which starts from the grid's Pareto set. Same inputs, same set: its draws come from a fixed seed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/search/predict.h"

namespace tributary {

struct PlanOption {
  PlanChoice choice;
  PlanCost cost;

  friend bool operator==(const PlanOption&, const PlanOption&) = default;
};

struct PlanSearchOptions {
  std::uint32_t ratios = 9;        // of the grid, from ratio_min to ratio_max
  std::uint32_t population = 48;   // a multiple of 4, as pagmo wants it
  std::uint32_t generations = 20;  // 0: the grid alone
  std::uint64_t seed = 1;
};

// Of at most this many, and never empty: ascending by time of a round.
inline constexpr std::size_t kParetoMax = 128;

// `inputs` have been checked; `predictor` is of them.
std::vector<PlanOption> pareto_set(const PlanInputs& inputs, const PlanPredictor& predictor,
                                   const PlanSearchOptions& options = {});

// Whether one is at least as good in everything, and better in something.
bool dominates(const PlanCost& one, const PlanCost& other);

}  // namespace tributary
