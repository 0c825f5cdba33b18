// An optimizer at work: what it remembers, and its steps. The same bits on every machine, because
// replicas on unlike devices must stay identical.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/optimizer_view.h"
#include "core/optimizer/kernels.h"
#include "core/optimizer/settings.h"

namespace tributary {

// How many steps there were is part of Adam's formula.
struct OptimizerStep {
  double learning_rate = 0;
  double divisor = 1;      // the gradient is a sum over this; negative: a sum of deltas
  std::uint64_t step = 1;  // the first is 1
};

namespace optimizer {
Formula formula_of(const OptimizerSettings& settings);
Factors factors_of(const OptimizerSettings& settings, const OptimizerStep& step);
}  // namespace optimizer

class Optimizer {
 public:
  // For a model of so many values; settings as check() allows them.
  Optimizer(const OptimizerSettings& settings, std::uint64_t values);

  const OptimizerSettings& settings() const { return settings_; }
  std::uint64_t steps() const { return steps_; }

  // A step: begin once, then apply to runs of the model that do not overlap.
  void begin();
  void apply(std::uint64_t first_value, std::span<const float> sum, double divisor,
             double learning_rate, std::span<float> model);

  // As it is now: later steps leave it alone. Null before the first step, and where there is
  // nothing to remember. Copies nothing; the next step does, if this is still held then.
  std::shared_ptr<const Bytes> save() const;
  // Empty: as before the first step.
  Status restore(ByteSpan state);
  std::uint64_t state_bytes() const;

  // Of a run, for a codec that looks at the optimizer.
  OptimizerView view(std::uint64_t first_value, std::span<const float> parameters,
                     double learning_rate) const;

 private:
  void own();
  std::span<float> moment(unsigned which) const;

  OptimizerSettings settings_;
  std::uint64_t values_;
  std::uint64_t steps_ = 0;
  std::shared_ptr<Bytes>
      state_;  // a header, then one moment after the other; null: all as at first
};

}  // namespace tributary
