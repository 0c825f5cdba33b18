// The scalar specification of an optimizer's step, which every SIMD target is tested against.
#pragma once

#include "core/optimizer/kernels.h"

namespace tributary::optimizer {

// Calls f.operator()<formula>().
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

inline void step_scalar(Formula formula, const Factors& factors, const Run& run) {
  with_formula(formula, [&]<Formula kFormula>() { step_from<kFormula>(0, factors, run); });
}

}  // namespace tributary::optimizer
