// Error feedback: the part of an update that a lossy encoding lost is added to the next update.
//
// An agent sends C(x + e), where x is the update, e the residual, C the encoder and D the decoder.
// When the agent knows the round's outcome, the new residual is
//   (x + e) - D(C(x + e))   if its contribution was committed,
//   (x + e)                 otherwise: no part of an excluded update is lost.
//
// All functions require spans of equal length. They are pure, and any thread may call them. Those
// with an Execution divide the work among its threads; the result does not depend on their number.
#pragma once

#include <span>

#include "core/codec/codec.h"

namespace tributary {

// Sets residual = sent - decoded for each element; elements with equal bits become zero. The
// residual may be the same memory as one of the others.
void keep_residual(std::span<const float> sent, std::span<const float> decoded,
                   std::span<float> residual);
void keep_residual(const Execution& execution, std::span<const float> sent,
                   std::span<const float> decoded, std::span<float> residual);

// Sets sum += values for each element, in ascending order.
void add_values(std::span<const float> values, std::span<float> sum);
void add_values(const Execution& execution, std::span<const float> values, std::span<float> sum);

// Sets sum += weight * values for each element. A product is rounded before it is added.
void add_weighted(std::span<const float> values, float weight, std::span<float> sum);

}  // namespace tributary
