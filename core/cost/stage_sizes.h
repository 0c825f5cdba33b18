// What a codec's stages weigh, said before anything is encoded. Sizes are of one bucket and agent.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost/exchange_cost.h"

namespace tributary {

// Bytes of the Rice-coded gaps between `ratio` of a bucket's places, taken at random.
double gap_bytes(double places, double ratio);

// `ratio` is the share of values that is kept, above 0 and at most 1.
std::vector<StagePayload> dense_stages(double values);
std::vector<StagePayload> top_k_stages(double values, double ratio, std::uint32_t agents);
std::vector<StagePayload> ar_top_k_stages(double values, double ratio);

}  // namespace tributary
