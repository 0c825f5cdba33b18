// The quantization metric δ (Table 2 of the paper): the ratio of all other terms in the new
// parameter to the gradient's contribution. If |δ| > 2^n, the addition discards at least n bits of
// the gradient's mantissa, so they need not be sent.
//
// δ is represented as a fraction. It is only compared with powers of two, so no division is needed,
// and a gradient of 0 is no special case. θ is the parameter, g the gradient, η the learning rate,
// t the step, b, r, v and m the moments, μ the momentum, τ its dampening, λ the weight decay and
// λ_lr the decay of the learning rate; α, β1, β2 and ε are those of torch.optim. With g' = g + λθ:
//
//   SGD       (1 - ηλ) θ                                              / (η g)
//   momentum  (1 - η(1-τ)λ) θ - ημ b                                  / (η(1-τ) g)
//   Nesterov  (1 - ηλ(1+μ)) θ - ημ² b                                 / (η(1+μ) g)
//   AdaGrad   θ (√(r + g'²) + ε) - η̃λ θ                               / (η̃ g)
//   RMSProp   θ (√(αv + (1-α)g'²) + ε) - ηλ θ                         / (η g)
//   Adam      (1-β1^t) θ (√v̂ + ε) - ηβ1 m - η(1-β1)λ θ                / (η(1-β1) g)
//   AdamW     (1-ηλ)(1-β1^t) θ (√v̂ + ε) - ηβ1 m                       / (η(1-β1) g)
//
//   η̃ = η / (1 + (t-1)λ_lr)     v̂ = (β2 v + (1-β2) g'²) / (1-β2^t), with g' = g for AdamW
//
// These are two formulas with seven sets of coefficients:
//
//   linear    (scale θ - moment m) / (rate g)
//   adaptive  (scale θ (√(keep v + add g'²) + ε) - moment m - decay θ) / (rate g)
//
// All functions are pure. They are the specification of one element: kernels must use the same
// operations in the same order.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/host_device.h"
#include "core/codec/gcomp/elements.h"
#include "core/codec/optimizer_view.h"

namespace tributary::gcomp {

// The coefficients of one optimizer at one step, named as in the two formulas.
struct MetricCoefficients {
  bool adaptive = false;
  float gradient = 1;  // factor from an encoded value to g: the view's scale / contributors
  float scale = 0;
  float moment = 0;
  float rate = 0;
  float keep = 0;
  float add = 0;
  float epsilon = 0;
  float decay = 0;
  float weight_decay = 0;  // the λ of g'
};

// δ of one element, as a fraction.
struct Metric {
  float numerator;
  float denominator;
};

TRIBUTARY_HD inline Metric linear_metric(const MetricCoefficients& k, float value, float parameter,
                                         float first) {
  return {k.scale * parameter - k.moment * first, k.rate * (value * k.gradient)};
}

TRIBUTARY_HD inline Metric adaptive_metric(const MetricCoefficients& k, float value,
                                           float parameter, float first, float second) {
  const float gradient = value * k.gradient;
  const float decayed = gradient + k.weight_decay * parameter;
  const float root = square_root(k.keep * second + k.add * (decayed * decayed)) + k.epsilon;
  return {((k.scale * parameter) * root - k.moment * first) - k.decay * parameter,
          k.rate * gradient};
}

// Returns the number of thresholds 2^6, 2^12, 2^18 that |δ| exceeds. NaN exceeds none.
TRIBUTARY_HD inline unsigned level_of(Metric metric) {
  const float numerator = fabsf(metric.numerator);
  const float denominator = fabsf(metric.denominator);
  return static_cast<unsigned>(numerator > denominator * 0x1p6f) +
         static_cast<unsigned>(numerator > denominator * 0x1p12f) +
         static_cast<unsigned>(numerator > denominator * 0x1p18f);
}

// Truncation could turn a NaN into Inf, so values that are not finite are kept. A parameter of 0
// loses nothing in the addition, so its gradient is kept too.
TRIBUTARY_HD inline bool may_truncate(std::uint32_t exponent, float parameter) {
  return exponent != kNotFiniteExponent && parameter != 0.0f;
}

// Computes the coefficients for values that are sums of `contributors` updates.
MetricCoefficients metric_coefficients(const OptimizerView& view, std::uint32_t contributors);

// The rule that chooses the level of a value. The pointers of a metric begin at the chunk's first
// value.
struct LevelRule {
  enum class Kind : std::uint8_t { fixed, linear, adaptive };
  Kind kind = Kind::fixed;
  unsigned level = 0;  // for fixed
  MetricCoefficients metric = {};
  const float* parameters = nullptr;
  const float* first = nullptr;
  const float* second = nullptr;
};

// The rule for the values from `begin` on.
TRIBUTARY_HD inline LevelRule rule_at(LevelRule rule, std::size_t begin) {
  if (rule.kind == LevelRule::Kind::fixed) return rule;
  rule.parameters += begin;
  rule.first += begin;
  rule.second += begin;
  return rule;
}

// The level of value i, counted from where the rule's pointers begin.
TRIBUTARY_HD inline unsigned choose_level(const LevelRule& rule, std::size_t i, float value) {
  const std::uint32_t exponent = exponent_of(std::bit_cast<std::uint32_t>(value));
  if (rule.kind == LevelRule::Kind::fixed) {
    return exponent == kNotFiniteExponent ? 0 : rule.level;
  }
  const float parameter = rule.parameters[i];
  if (!may_truncate(exponent, parameter)) return 0;
  return level_of(
      rule.kind == LevelRule::Kind::linear
          ? linear_metric(rule.metric, value, parameter, rule.first[i])
          : adaptive_metric(rule.metric, value, parameter, rule.first[i], rule.second[i]));
}

}  // namespace tributary::gcomp
