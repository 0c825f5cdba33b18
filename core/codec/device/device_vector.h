// Values that are in the memory of a device, and host addresses that stand for them.
//
// A trainer may hand over an update on the device. A codec gets the stand-in as its values. The
// loops of the same device find the values by these addresses, so nothing is copied. The stand-in
// can be neither read nor written before bring_to_host(), so host code that takes it for ordinary
// memory faults at once. Only codecs of encodes_from_device() get one.
//
// Errors are those of the device: resource_exhausted or io_error. A vector belongs to one thread at
// a time, and its DeviceVectors outlive it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/status.h"

namespace tributary {

class Codec;

class DeviceVector {
 public:
  virtual ~DeviceVector() = default;

  virtual std::size_t size() const = 0;
  // As long as the vector.
  virtual std::span<float> stand_in() = 0;
  // Makes the stand-in ordinary memory with the vector's values, and returns the same result from
  // then on. After an error it is ordinary memory with any values.
  virtual Status bring_to_host() = 0;

  // A vector of residual + weight * value; without a residual of weight * value. This one stays as
  // it is.
  virtual Result<std::shared_ptr<DeviceVector>> plus(std::span<const float> residual,
                                                     float weight) const = 0;
  // The Euclidean norm, added in double in an order of its own; NaN if a value is not finite.
  virtual Result<double> norm() const = 0;
  // Copies the values from `first` on to the host, and from the host.
  virtual Status read(std::size_t first, std::span<float> values) const = 0;
  virtual Status write(std::size_t first, std::span<const float> values) = 0;
  // Writes the residual of the values from `first` on (core/codec/error_feedback.h). `decoded` is
  // a vector of the same device; its first values change.
  virtual Status keep_residual(std::size_t first, DeviceVector& decoded,
                               std::span<float> residual) const = 0;
};

// Makes vectors of a device. Thread-safe.
class DeviceVectors {
 public:
  virtual ~DeviceVectors() = default;

  // A vector of `count` values, not initialised.
  virtual Result<std::shared_ptr<DeviceVector>> make(std::size_t count) = 0;
  // Copies values in the memory of the device; no work on them may be unfinished.
  virtual Result<std::shared_ptr<DeviceVector>> copy_of(std::span<const float> on_device) = 0;
  // Copies values from the memory of the device to the host.
  virtual Status read(std::span<const float> on_device, std::span<float> values) = 0;
};

// Whether the codec reads the values of an update, and writes those of its own payload, only by
// loops of a device or after StageCall::host_takes_over().
bool encodes_from_device(const Codec& codec);

}  // namespace tributary
