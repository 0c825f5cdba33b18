// The formula of each optimizer for one value. It is the specification: the SIMD version performs
// the same operations in the same order, a device compiles this text, and no compiler may contract
// them (cmake/TributaryCompiler.cmake). The functions are pure.
#pragma once

#include <cstdint>

#include "core/base/host_device.h"

namespace tributary::optimizer {

// The formulas; some optimizers share one and differ in the factors.
enum class Formula : std::uint8_t {
  sgd,
  momentum,
  nesterov,
  adagrad,
  rmsprop,
  rmsprop_momentum,
  adam,
  yogi,
};

// Which moments a formula reads and writes.
constexpr bool uses_first(Formula formula) {
  return formula != Formula::sgd && formula != Formula::adagrad && formula != Formula::rmsprop;
}
constexpr bool uses_second(Formula formula) {
  return formula != Formula::sgd && formula != Formula::momentum && formula != Formula::nesterov;
}

// The numbers of a step, rounded to float once, so that every value is computed from the same
// floats.
struct Factors {
  float divisor = 1;  // gradient = sum / divisor
  float rate = 0;
  float decay = 0;   // factor of the parameter that is added to the gradient
  float shrink = 1;  // AdamW: factor of the parameter before its step
  float momentum = 0;
  float beta1 = 0;
  float one_less_beta1 = 0;
  float beta2 = 0;
  float one_less_beta2 = 0;
  float root_scale = 1;  // Adam: bias correction of the root of the second moment
  float epsilon = 0;
};

// The state of one value before or after a step.
struct OneValue {
  float parameter;
  float first;
  float second;
};

template <Formula kFormula>
TRIBUTARY_HD inline OneValue next(const Factors& k, float sum, OneValue v) {
  const float gradient = sum / k.divisor + k.decay * v.parameter;
  if constexpr (kFormula == Formula::sgd) {
    v.parameter = v.parameter - k.rate * gradient;
  } else if constexpr (kFormula == Formula::momentum) {
    v.first = k.momentum * v.first + gradient;
    v.parameter = v.parameter - k.rate * v.first;
  } else if constexpr (kFormula == Formula::nesterov) {
    v.first = k.momentum * v.first + gradient;
    v.parameter = v.parameter - k.rate * (gradient + k.momentum * v.first);
  } else if constexpr (kFormula == Formula::adagrad) {
    v.second = v.second + gradient * gradient;
    v.parameter = v.parameter - k.rate * (gradient / (square_root(v.second) + k.epsilon));
  } else if constexpr (kFormula == Formula::rmsprop || kFormula == Formula::rmsprop_momentum) {
    v.second = k.beta2 * v.second + k.one_less_beta2 * (gradient * gradient);
    const float step = gradient / (square_root(v.second) + k.epsilon);
    if constexpr (kFormula == Formula::rmsprop) {
      v.parameter = v.parameter - k.rate * step;
    } else {
      v.first = k.momentum * v.first + step;
      v.parameter = v.parameter - k.rate * v.first;
    }
  } else {
    const float square = gradient * gradient;
    v.first = k.beta1 * v.first + k.one_less_beta1 * gradient;
    if constexpr (kFormula == Formula::adam) {
      v.second = k.beta2 * v.second + k.one_less_beta2 * square;
    } else {
      const float move = k.one_less_beta2 * square;
      if (v.second > square)
        v.second = v.second - move;
      else if (v.second < square)
        v.second = v.second + move;
    }
    const float root = square_root(v.second) * k.root_scale + k.epsilon;
    v.parameter = k.shrink * v.parameter - k.rate * (v.first / root);
  }
  return v;
}

}  // namespace tributary::optimizer
