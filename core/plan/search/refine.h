// Choices between those of the grid, by NSGA-II. pagmo stays behind this header: including it costs
// a translation unit half a minute.
#pragma once

#include <vector>

#include "core/plan/search/search.h"

namespace tributary {

PlanOption make_option(const PlanPredictor& predictor, const PlanCodec& codec,
                       wire::Collective collective, double ratio, std::uint64_t bucket_values);

// What the last generation holds: begins with `start`, which is not empty.
std::vector<PlanOption> refine(const PlanInputs& inputs, const PlanPredictor& predictor,
                               const std::vector<PlanOption>& start,
                               const PlanSearchOptions& options);

}  // namespace tributary
