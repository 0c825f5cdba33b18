// An optimizer whose moments are in the memory of a device, which makes its steps on a model there.
// The bits are those of an Optimizer with the same state.
//
// Errors are those of the device: resource_exhausted or io_error. After one, the model and the
// moments on the device are of no use; the Optimizer from which this one was made is unchanged. The
// device outlives it. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/device/device_vector.h"
#include "core/optimizer/optimizer.h"

namespace tributary {

class CodecDevice;

namespace optimizer {

class DeviceLoops;

// A run of the model, and the numbers of its step as for Optimizer::apply(). The sum is of the
// stand-in of a vector of the device, and begins at a place that equals `first_value` modulo
// kStepAlignment.
struct DeviceStep {
  std::span<const float> sum = {};
  std::uint64_t first_value = 0;
  double divisor = 1;
  double learning_rate = 0;
};

}  // namespace optimizer

class OptimizerOnDevice {
 public:
  // Copies the state of an optimizer of a model of `values` values. Requires
  // CodecDevice::optimizer().
  static Result<OptimizerOnDevice> make(CodecDevice& device, const Optimizer& from,
                                        std::uint64_t values);

  // A step as of an Optimizer. The model is a vector of the device.
  void begin() { ++steps_; }
  Status apply(const optimizer::DeviceStep& step, DeviceVector& model);

  // Copies the state to the host, as Optimizer::restore() takes it. Empty if there is none.
  Result<Bytes> save() const;

 private:
  OptimizerOnDevice(optimizer::DeviceLoops& loops, const OptimizerSettings& settings,
                    std::uint64_t steps)
      : loops_(&loops), settings_(settings), steps_(steps) {}

  optimizer::DeviceLoops* loops_;
  OptimizerSettings settings_;
  std::uint64_t steps_;
  std::vector<std::shared_ptr<DeviceVector>> moments_;  // in the order of the state
};

}  // namespace tributary
