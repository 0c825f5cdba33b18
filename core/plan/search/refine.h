// Refines choices between the points of the search grid with NSGA-II.
//
// pagmo is included only by refine.cc, because including it costs a translation unit 30 s of
// compile time.
#pragma once

#include <vector>

#include "core/plan/search/search.h"

namespace tributary {

// Returns the choice and its predicted cost.
PlanOption make_option(const PlanPredictor& predictor, const PlanCodec& codec,
                       wire::Collective collective, double ratio, std::uint64_t bucket_values);

// Returns the last generation. `grid` is the first generation and must not be empty. The result
// depends only on the arguments; options.seed determines all random draws.
std::vector<PlanOption> refine(const PlanInputs& inputs, const PlanPredictor& predictor,
                               const std::vector<PlanOption>& grid,
                               const PlanSearchOptions& options);

}  // namespace tributary
