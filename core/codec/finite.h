// The rule for NaN and Inf: a lossy codec refuses the bucket and names the first bad element.
#pragma once

#include <span>

#include "core/base/status.h"

namespace tributary {

// To be called when a bucket is known to hold a value that is not finite.
Status not_finite_error(std::span<const float> values);

}  // namespace tributary
