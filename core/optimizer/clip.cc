#include "core/optimizer/clip.h"

#include <cmath>

#include "core/codec/simd/ordered_sum.h"

namespace tributary {

double gradient_norm(std::span<const float> gradient) {
  return std::sqrt(ordered_dot(gradient, gradient));
}

double clip_by_norm(std::span<float> gradient, double norm_max) {
  const double norm = gradient_norm(gradient);
  const double factor = norm_max / (norm + 1e-6);
  if (!(factor < 1)) return norm;
  const auto narrow = static_cast<float>(factor);
  for (float& value : gradient) value *= narrow;
  return norm;
}

void clip_by_value(std::span<float> gradient, float value_max) {
  for (float& value : gradient) {
    if (value > value_max) value = value_max;
    if (value < -value_max) value = -value_max;
  }
}

}  // namespace tributary
