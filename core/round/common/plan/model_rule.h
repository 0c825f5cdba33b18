// How a round's sum becomes a model: the same few operations in the same order on the coordinator
// and on every replica, so that they stay identical to the bit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/optimizer/settings.h"
#include "schemas/frame_generated.h"

namespace tributary {

// One bucket of a committed round.
struct RuleStep {
  std::uint64_t first_value = 0;
  std::span<const float> sum;  // over the contributors
  double divisor = 1;
  double learning_rate = 1;
};

class ModelRule {
 public:
  virtual ~ModelRule() = default;

  // Before the first bucket of a round, and in this order: begin, apply for each bucket, ascending.
  virtual void begin(std::uint64_t /*round*/) {}
  virtual void apply(const RuleStep& step, std::span<float> model) = 0;

  // What it remembers from round to round; part of checkpoints, replicas and transfers.
  // Never null. Later steps leave it alone.
  virtual std::shared_ptr<const Bytes> save() const { return std::make_shared<const Bytes>(); }
  virtual Status restore(ByteSpan state);
  // An upper bound on the size of save(), so that no claimed size is trusted.
  virtual std::uint64_t state_bytes_max() const { return 0; }
};

// As a job has it; an error if a number makes no sense.
Result<OptimizerSettings> optimizer_settings(const wire::Optimizer& optimizer);

// An error for an optimizer or a strategy that makes no sense. With the mode `gradient` the
// optimizer makes the step; with `delta` the optimizer is the agents' own and the strategy's makes
// the step. Buffers (batch-norm statistics) are averaged and never optimized: a gradient holds for
// them what, times the learning rate, is to be subtracted.
Result<std::unique_ptr<ModelRule>> make_model_rule(const wire::Job& job);

}  // namespace tributary
