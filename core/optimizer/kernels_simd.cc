// The SIMD version of one_value.h, with the same operations in the same order. Highway compiles
// this file once per instruction set and selects the best at run time.
#include "core/optimizer/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/optimizer/kernels_simd.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tributary::optimizer::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::ScalableTag<float>;
using FloatVec = hn::Vec<Float>;

HWY_INLINE FloatVec times(float factor, FloatVec v) { return hn::Mul(hn::Set(Float(), factor), v); }

// upper / (scale · √second + epsilon). IEEE 754 rounds square root and division correctly, so all
// machines agree.
HWY_INLINE FloatVec over_root(FloatVec upper, FloatVec second, float scale, float epsilon) {
  const FloatVec root = times(scale, hn::Sqrt(second));
  return hn::Div(upper, hn::Add(root, hn::Set(Float(), epsilon)));
}

HWY_INLINE void stride_by(float rate, FloatVec step, FloatVec& parameter) {
  parameter = hn::Sub(parameter, times(rate, step));
}

template <Formula kFormula>
HWY_INLINE void next_adam(const Factors& k, FloatVec gradient, FloatVec& parameter, FloatVec& first,
                          FloatVec& second) {
  const FloatVec square = hn::Mul(gradient, gradient);
  first = hn::Add(times(k.beta1, first), times(k.one_less_beta1, gradient));
  const FloatVec move = times(k.one_less_beta2, square);
  if constexpr (kFormula == Formula::adam) {
    second = hn::Add(times(k.beta2, second), move);
  } else {
    const FloatVec less = hn::Sub(second, move);
    const FloatVec more = hn::Add(second, move);
    // Equal values stay as they are, as in the scalar version.
    second = hn::IfThenElse(hn::Gt(second, square), less,
                            hn::IfThenElse(hn::Lt(second, square), more, second));
  }
  parameter = times(k.shrink, parameter);
  stride_by(k.rate, over_root(first, second, k.root_scale, k.epsilon), parameter);
}

template <Formula kFormula>
HWY_INLINE void next(const Factors& k, FloatVec sum, FloatVec& parameter, FloatVec& first,
                     FloatVec& second) {
  const FloatVec mean = hn::Div(sum, hn::Set(Float(), k.divisor));
  const FloatVec gradient = hn::Add(mean, times(k.decay, parameter));
  if constexpr (kFormula == Formula::sgd) {
    stride_by(k.rate, gradient, parameter);
  } else if constexpr (kFormula == Formula::momentum) {
    first = hn::Add(times(k.momentum, first), gradient);
    stride_by(k.rate, first, parameter);
  } else if constexpr (kFormula == Formula::nesterov) {
    first = hn::Add(times(k.momentum, first), gradient);
    stride_by(k.rate, hn::Add(gradient, times(k.momentum, first)), parameter);
  } else if constexpr (kFormula == Formula::adagrad) {
    second = hn::Add(second, hn::Mul(gradient, gradient));
    stride_by(k.rate, over_root(gradient, second, 1, k.epsilon), parameter);
  } else if constexpr (kFormula == Formula::rmsprop || kFormula == Formula::rmsprop_momentum) {
    second = hn::Add(times(k.beta2, second), times(k.one_less_beta2, hn::Mul(gradient, gradient)));
    const FloatVec step = over_root(gradient, second, 1, k.epsilon);
    if constexpr (kFormula == Formula::rmsprop) {
      stride_by(k.rate, step, parameter);
    } else {
      first = hn::Add(times(k.momentum, first), step);
      stride_by(k.rate, first, parameter);
    }
  } else {
    next_adam<kFormula>(k, gradient, parameter, first, second);
  }
}

template <Formula kFormula>
void step_vectors(const Factors& in_memory, const Run& run) {
  const Float df;
  const std::size_t lanes = hn::Lanes(df);
  const Factors factors = in_memory;  // a copy, because stores of values could alias the original
  std::size_t i = 0;
  for (; i + lanes <= run.count; i += lanes) {
    FloatVec parameter = hn::LoadU(df, run.parameters + i);
    FloatVec first = run.first ? hn::LoadU(df, run.first + i) : hn::Zero(df);
    FloatVec second = run.second ? hn::LoadU(df, run.second + i) : hn::Zero(df);
    next<kFormula>(factors, hn::LoadU(df, run.sum + i), parameter, first, second);
    hn::StoreU(parameter, df, run.parameters + i);
    if (run.first) hn::StoreU(first, df, run.first + i);
    if (run.second) hn::StoreU(second, df, run.second + i);
  }
  step_from<kFormula>(i, factors, run);
}

}  // namespace

// One dispatch per run: the formula is a template argument inside the loops.
void step(Formula formula, const Factors& factors, const Run& run) {
  switch (formula) {
    case Formula::sgd:
      return step_vectors<Formula::sgd>(factors, run);
    case Formula::momentum:
      return step_vectors<Formula::momentum>(factors, run);
    case Formula::nesterov:
      return step_vectors<Formula::nesterov>(factors, run);
    case Formula::adagrad:
      return step_vectors<Formula::adagrad>(factors, run);
    case Formula::rmsprop:
      return step_vectors<Formula::rmsprop>(factors, run);
    case Formula::rmsprop_momentum:
      return step_vectors<Formula::rmsprop_momentum>(factors, run);
    case Formula::adam:
      return step_vectors<Formula::adam>(factors, run);
    case Formula::yogi:
      return step_vectors<Formula::yogi>(factors, run);
  }
}

}  // namespace tributary::optimizer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::optimizer {

HWY_EXPORT(step);
void step_simd(Formula formula, const Factors& factors, const Run& run) {
  HWY_DYNAMIC_DISPATCH(step)(formula, factors, run);
}

}  // namespace tributary::optimizer
#endif
