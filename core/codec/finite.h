// The error for NaN and Inf: a lossy codec refuses the bucket and names the first element that is
// not finite.
#pragma once

#include <span>

#include "core/base/status.h"

namespace tributary {

// Returns a not_finite status with the index and value of the first such element. The caller
// guarantees that `values` contains one; the search is linear and runs only on this error path.
Status not_finite_error(std::span<const float> values);

}  // namespace tributary
