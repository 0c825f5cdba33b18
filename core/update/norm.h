// The length of an update, and a bound on it. The functions have no state.
//
// One pass each, without allocation. The caller keeps other threads from changing the values.
#pragma once

#include <span>

namespace tributary {

// Returns the Euclidean norm, added in double, so that squares cannot overflow. The last bits may
// differ from other functions that add in another order.
double norm_of(std::span<const float> values);

// Scales values with the norm `norm` to the norm `norm_max`, which is lower.
void scale_to_norm(std::span<float> values, double norm, double norm_max);

}  // namespace tributary
