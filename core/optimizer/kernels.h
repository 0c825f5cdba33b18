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

// The same bits on every target as step_from() over the whole run, which is the specification.
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

}  // namespace tributary::optimizer
