// The steps of an optimizer over values that are in the memory of a device, as the device runs
// them. The bits are those of the scalar specification (one_value.h). Thread-safe.
#pragma once

#include <cstddef>

#include "core/base/status.h"
#include "core/optimizer/kernels.h"

namespace tributary::optimizer {

// The device loads and stores so many values at once.
constexpr std::size_t kStepAlignment = 4;

class DeviceLoops {
 public:
  virtual ~DeviceLoops() = default;

  // All pointers of the run that the formula uses are to stand-ins of vectors of the device
  // (core/codec/device/device_vector.h), at places that are equal modulo kStepAlignment. On an
  // error some values have made the step and others have not.
  virtual Status step(Formula formula, const Factors& factors, const Run& run) = 0;
};

}  // namespace tributary::optimizer
