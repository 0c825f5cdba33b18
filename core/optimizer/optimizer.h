// An optimizer with its state. Its steps produce the same bits on every machine, because replicas
// on different devices must remain identical.
//
// Not thread-safe. The state has 64 bytes and up to two floats per value of the model; it is
// allocated at the first step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/optimizer_view.h"
#include "core/optimizer/kernels.h"
#include "core/optimizer/settings.h"

namespace tributary {

// The numbers of one step. The step's number is part of Adam's formula.
struct OptimizerStep {
  double learning_rate = 0;
  double divisor = 1;      // the gradient is a sum divided by this; negative: a sum of deltas
  std::uint64_t step = 1;  // from 1
};

namespace optimizer {
// The state begins with the number of steps, and padding up to the next cache line.
constexpr std::size_t kStateHeaderBytes = 64;

// The moments of the state before the first step.
float start_of_moment(const OptimizerSettings& settings, unsigned which);
Formula formula_of(const OptimizerSettings& settings);
Factors factors_of(const OptimizerSettings& settings, const OptimizerStep& step);
}  // namespace optimizer

class Optimizer {
 public:
  // Makes an optimizer for a model of `values` values. The settings must satisfy check().
  Optimizer(const OptimizerSettings& settings, std::uint64_t values);

  const OptimizerSettings& settings() const { return settings_; }
  std::uint64_t steps() const { return steps_; }

  // A step: call begin() once, then apply() for non-overlapping runs of the model. `sum` holds the
  // values from first_value on. `model` is the complete model; its size must be `values`. The
  // result does not depend on the number of threads of `execution`.
  void begin();
  void apply(std::uint64_t first_value, std::span<const float> sum, double divisor,
             double learning_rate, std::span<float> model, const Execution& execution = {});

  // True if the moments of a run are finite. Squares may overflow although the step is finite, and
  // restore() refuses such a state.
  bool finite(std::uint64_t first_value, std::uint64_t values) const;

  // Returns the current state, which later steps do not change. It is null before the first step,
  // and always null if the optimizer has no state. The call copies nothing; the next step copies
  // the state if the result is still held then.
  std::shared_ptr<const Bytes> save() const;
  // Replaces the state by a saved one, which is untrusted. Returns mismatch if its size or its
  // content is not valid for these settings. An empty state resets to the time before the first
  // step.
  Status restore(ByteSpan state);
  // An optimizer with the same state, in memory of its own. The state is trusted.
  Optimizer copy() const;
  // Size of a saved state after the first step.
  std::uint64_t state_bytes() const;

  // Returns the view of a run for a codec. It points into `parameters` and the state, and is valid
  // until the next step. Empty for an optimizer that a view cannot describe: RMSProp with momentum.
  std::optional<OptimizerView> view(std::uint64_t first_value, std::span<const float> parameters,
                                    double learning_rate) const;

 private:
  void own();
  std::span<float> moment(unsigned which) const;

  OptimizerSettings settings_;
  std::uint64_t values_;
  std::uint64_t steps_ = 0;
  std::shared_ptr<Bytes> state_;  // header, then the moments; null: before the first step
};

}  // namespace tributary
