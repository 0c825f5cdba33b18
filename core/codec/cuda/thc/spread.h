// The rotation alone, for the range of the rotated coordinates.
#pragma once

#include "core/codec/cuda/thc/thc.h"

namespace tributary::TRIBUTARY_DEVICE {

// Sets y to the rotated coordinates of a bucket in the scale of the values: H (D x) / √B.
Status spread_values(const Queue& queue, const float* x, const ThcBlocks& blocks, float* y);

}  // namespace tributary::TRIBUTARY_DEVICE
