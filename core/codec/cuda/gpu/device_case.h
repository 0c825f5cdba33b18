// One measurement of the benchmark of a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/codec/cuda/device.h"

namespace tributary::cuda {

struct DeviceCase {
  std::string name;
  std::uint64_t float_bytes;  // of float32 that one call encodes or decodes
  // Only adds work to the queue: no allocation and no wait, so that a graph can repeat it. All
  // memory is that of the device, allocated before.
  std::function<Status(const Queue& queue)> start;
  // Compares the result of a call with the scalar specification.
  std::function<Status(const Queue& queue)> check;
  // Spec of the codec whose whole encoding the case is, for the comparison with the host. Empty:
  // the first word of a name like "thc encode"; other cases are not compared.
  std::string codec = {};
};

}  // namespace tributary::cuda
