// Turns a round's sum into the next model. The coordinator and every replica perform the same
// operations in the same order, so the models stay identical to the bit.
//
// A rule owns its state, which has up to two values per parameter; the model belongs to the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/optimizer_view.h"
#include "core/optimizer/settings.h"
#include "schemas/frame_generated.h"

namespace tributary {

// From this size of a model on, coordinators and agents of a star rather do without a further copy
// of it than save the time in which the copy could be prepared.
inline constexpr std::uint64_t kLargeModelBytes = std::uint64_t{64} << 20;

class CodecDevice;
class DeviceVector;

// One bucket of a committed round.
struct RuleStep {
  std::uint64_t first_value = 0;
  std::span<const float> sum;  // the sum over the contributors
  double divisor = 1;
  double learning_rate = 1;
  Execution execution = {};  // the result does not depend on it
};

// A rule whose state is in the memory of a device, for a model there (OptimizerOnDevice, whose
// contract it has). Its steps have the bits of the rule that it was made from.
class RuleOnDevice {
 public:
  virtual ~RuleOnDevice() = default;

  virtual void begin() = 0;
  // The sum is of the stand-in of a vector of the device, and begins at a place that equals
  // `first_value` modulo optimizer::kStepAlignment.
  virtual Status apply(const RuleStep& step, DeviceVector& model) = 0;
  // The state, as ModelRule::restore() takes it.
  virtual Result<Bytes> save() const = 0;
};

// A rule with its state. Not thread-safe. Calls of one round: begin, then apply for each bucket in
// ascending order.
class ModelRule {
 public:
  virtual ~ModelRule() = default;

  // Starts a round, before its first bucket.
  virtual void begin(std::uint64_t /*round*/) {}
  // Changes the part of the model that the step covers.
  virtual void apply(const RuleStep& step, std::span<float> model) = 0;

  // True if this step certainly leaves finite values, in the model and in the state, which is
  // decided without making it. `model` is the part that the step covers. False says nothing.
  virtual bool certainly_finite(const RuleStep& /*step*/, std::span<const float> /*model*/) const {
    return false;
  }

  // The view of the next step of a run of the model, for a codec. `parameters` is that run before
  // the step. The view is in the units of one step: OptimizerView::value_scale is 1, or -1 for
  // deltas. It points into `parameters` and the state, and is valid until the next step. Empty if
  // the optimizer does not make that step alone, as in a run with buffers.
  virtual std::optional<OptimizerView> view(std::uint64_t /*first_value*/,
                                            std::span<const float> /*parameters*/,
                                            double /*learning_rate*/) const {
    return std::nullopt;
  }
  // A copy of the rule on a device that has CodecDevice::optimizer().
  virtual Result<std::unique_ptr<RuleOnDevice>> on_device(CodecDevice& device) const = 0;
  // True if its state for these values is finite. Several threads may ask for different values.
  virtual bool finite(std::uint64_t /*first_value*/, std::uint64_t /*values*/) const {
    return true;
  }

  // The state that it keeps between rounds: a part of checkpoints, replicas and transfers. Never
  // null. Later steps do not change it.
  virtual std::shared_ptr<const Bytes> save() const { return std::make_shared<const Bytes>(); }
  // Replaces the state. Returns mismatch for a state of another optimizer.
  virtual Status restore(ByteSpan state);
  // A rule with the same state, in memory of its own.
  virtual std::unique_ptr<ModelRule> copy() const = 0;
  // Upper bound on the size of save(), so that a claimed size is never trusted.
  virtual std::uint64_t state_bytes_max() const { return 0; }
};

// The settings in a job's definition. Returns unsupported for an unknown optimizer and
// invalid_argument for impossible numbers.
Result<OptimizerSettings> optimizer_settings(const wire::Optimizer& optimizer);

// Makes the rule of a job. In mode `gradient` the job's optimizer makes the step. In mode `delta`
// that optimizer runs on the agents, and the strategy's optimizer makes the step. Buffers
// (batch-norm statistics) are averaged and never optimized: a gradient contains for them the value
// that, times the learning rate, is to be subtracted. Returns the error of an optimizer or a
// strategy that is not valid.
Result<std::unique_ptr<ModelRule>> make_model_rule(const wire::Job& job);

}  // namespace tributary
