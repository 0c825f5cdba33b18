// Divides the bits of a bucket among its blocks by their norms.
//
// A block of norm r has the expected error r² D(w) per value at width w. With the widths on their
// convex hull, the step of any block from one width to the next lowers the error by less for each
// unit of cost than the step before it. Taking all steps of all blocks in the order of
// r² (D(w - 1) - D(w)) / (cost(w) - cost(w - 1)) therefore has the least error for its cost after
// every step. The rate says where this walk ends.
//
// All devices must choose alike: a step's gain is the exact square of a float32 norm times a factor
// that all share, rounded once, and ties go to the lower step and then to the lower block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/thc/rate/widths.h"

namespace tributary::thc {

// Returns the index into `widths` of every block. Pure, O(blocks (log blocks + widths)).
//
// `norms` and `sizes` have one element per block; sizes are in values. `widths` is a result of
// convex_widths() for the same `down_weight`. The walk ends before the step with which the levels
// would have more than `rate` bits per value on average. Its first step is taken in any case, so
// the largest block is always sent and error feedback sends every block in time. A block with a
// norm below `norm_min`, or NaN, gets nothing.
std::vector<std::uint8_t> allocate(std::span<const float> norms,
                                   std::span<const std::uint32_t> sizes,
                                   std::span<const Width> widths, double down_weight, double rate,
                                   float norm_min);

}  // namespace tributary::thc
