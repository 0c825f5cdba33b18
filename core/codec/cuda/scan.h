// The running sum of an array on a device, for kernels that write a varying number of values.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

// Sets before[i] to the sum of counts[0] .. counts[i - 1] modulo 2^32, for i = 0 .. n. One block
// does the work, so use it for the counts of tiles and not of values. `before` may be `counts` if
// that has n + 1 elements.
Status exclusive_scan(const Queue& queue, const std::uint32_t* counts, std::uint32_t n,
                      std::uint32_t* before);

}  // namespace tributary::TRIBUTARY_DEVICE
