#include "core/optimizer/kernels.h"

namespace tributary::optimizer {

void step_scalar(Formula formula, const Factors& factors, const Run& run) {
  with_formula(formula, [&]<Formula kFormula>() { step_from<kFormula>(0, factors, run); });
}

}  // namespace tributary::optimizer
