// Clips gradients, with the same bits on every machine. The functions are pure.
//
// Agents clip before they report, so a run can only be repeated if every machine gets the same
// bits. Each function makes one or two passes over the gradient and allocates nothing.
#pragma once

#include <span>

namespace tributary {

// Returns the Euclidean norm, added in double in a fixed order.
double gradient_norm(std::span<const float> gradient);

// Scales the gradient to a norm of at most norm_max, and returns the previous norm. It works like
// torch.nn.utils.clip_grad_norm_. The result contains a NaN if the gradient contains a
// NaN or Inf, so that a later check detects the error.
double clip_by_norm(std::span<float> gradient, double norm_max);

// Limits each value to [-value_max, value_max]; NaN is kept.
void clip_by_value(std::span<float> gradient, float value_max);

}  // namespace tributary
