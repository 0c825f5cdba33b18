// The loops of one optimizer step over a run of values, scalar and SIMD.
//
// Assumptions: the arrays do not overlap and are aligned to 4 bytes. `first` and `second` may be
// null if the formula does not use them. The functions have no state; threads may call them for
// different runs.
#pragma once

#include <cstddef>

#include "core/optimizer/one_value.h"

namespace tributary::optimizer {

// A run of `count` consecutive values of the model.
struct Run {
  const float* sum = nullptr;
  float* parameters = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  std::size_t count = 0;
};

// The same bits on every target as step_from() over the whole run, which is the specification.
void step_simd(Formula formula, const Factors& factors, const Run& run);

// Processes values one by one, from index i on. The SIMD version uses it for the values after the
// last whole vector.
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
