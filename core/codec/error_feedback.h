// Error feedback: what a lossy encoding cut off is sent with the next update instead of being lost.
//
// An agent sends C(x + e). Once it knows the round's outcome, the new residual e is
//   (x + e) - D(C(x + e))   if its contribution was committed,
//   (x + e)                 if it was not: nothing of an excluded update is lost.
#pragma once

#include <span>

namespace tributary {

// residual = sent - decoded.
void keep_residual(std::span<const float> sent, std::span<const float> decoded,
                   std::span<float> residual);

// sum += values, element by element.
void add_values(std::span<const float> values, std::span<float> sum);

}  // namespace tributary
