// The arithmetic of PowerSGD for one value. It is the specification: kernels must produce the same
// bits. The functions are pure.
#pragma once

#include <algorithm>
#include <cfloat>

#include "core/base/host_device.h"

namespace tributary::lowrank {

// Limits a value to the range of float32 and rounds it once. A conversion of a larger double to
// float would be undefined.
TRIBUTARY_HD inline float within_float(double value) {
  return static_cast<float>(std::min(double{FLT_MAX}, std::max(-double{FLT_MAX}, value)));
}

}  // namespace tributary::lowrank
