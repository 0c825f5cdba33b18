// Computes the sizes of a codec's stages from formulas, before anything is encoded. Sizes are in
// bytes per bucket and agent; `values` is the number of values of a bucket. All functions are pure.
//
// The results are estimates; measured_stages.h has measured sizes. No function fails; arguments out
// of range are the caller's error.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost/exchange_cost.h"

namespace tributary {

// Bytes of the Rice-coded gaps between `places` random indices that are the share `ratio` of a
// bucket.
double gap_bytes(double places, double ratio);

// `ratio` is the share of values that are kept, above 0 and at most 1.
std::vector<StagePayload> dense_stages(double values);
// Top-k with indices of each agent's own: a gather of sparse payloads. The combined payload grows
// with the number of agents.
std::vector<StagePayload> top_k_stages(double values, double ratio, std::uint32_t agents);
// AR-Topk: a broadcast of one agent's indices, then a sum of the values at these indices.
std::vector<StagePayload> ar_top_k_stages(double values, double ratio);

}  // namespace tributary
