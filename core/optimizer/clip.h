// Clipping of gradients, the same bits on every machine.
#pragma once

#include <span>

namespace tributary {

// The Euclidean norm, summed in double and in one order.
double gradient_norm(std::span<const float> gradient);

// Scales the gradient so that its norm is at most this; returns the norm that it had. As
// torch.nn.utils.clip_grad_norm_ does it.
double clip_by_norm(std::span<float> gradient, double norm_max);

// Each value for itself, to [-value_max, value_max]; NaN stays NaN.
void clip_by_value(std::span<float> gradient, float value_max);

}  // namespace tributary
