// The length of an update. The function is pure.
#pragma once

#include <span>

namespace tributary {

// Returns the Euclidean norm, added in double, so that squares cannot overflow. The last bits may
// differ from other functions that add in another order.
double norm_of(std::span<const float> values);

}  // namespace tributary
