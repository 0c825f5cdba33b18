// One step over a run of values. `first` and `second` may be null where a formula does not use
// them.
#pragma once

#include <cstddef>

#include "core/optimizer/one_value.h"

namespace tributary::optimizer {

struct Run {
  const float* sum = nullptr;
  float* parameters = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  std::size_t count = 0;
};

void step_scalar(Formula formula, const Factors& factors, const Run& run);
// The same bits.
void step_simd(Formula formula, const Factors& factors, const Run& run);

// One by one; also what is left of a run behind its last whole vector.
template <Formula kFormula>
void step_from(std::size_t i, const Factors& factors, const Run& run) {
  for (; i < run.count; ++i) {
    OneValue value = {.parameter = run.parameters[i],
                      .first = run.first ? run.first[i] : 0,
                      .second = run.second ? run.second[i] : 0};
    value = next<kFormula>(factors, run.sum[i], value);
    run.parameters[i] = value.parameter;
    if (run.first) run.first[i] = value.first;
    if (run.second) run.second[i] = value.second;
  }
}

// Calls f.operator()<formula>(): one list of the formulas for both versions.
template <typename F>
void with_formula(Formula formula, F&& f) {
  switch (formula) {
    case Formula::sgd:
      return f.template operator()<Formula::sgd>();
    case Formula::momentum:
      return f.template operator()<Formula::momentum>();
    case Formula::nesterov:
      return f.template operator()<Formula::nesterov>();
    case Formula::adagrad:
      return f.template operator()<Formula::adagrad>();
    case Formula::rmsprop:
      return f.template operator()<Formula::rmsprop>();
    case Formula::rmsprop_momentum:
      return f.template operator()<Formula::rmsprop_momentum>();
    case Formula::adam:
      return f.template operator()<Formula::adam>();
    case Formula::yogi:
      return f.template operator()<Formula::yogi>();
  }
}

}  // namespace tributary::optimizer
