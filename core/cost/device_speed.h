// How quick this machine is at each codec: what an agent tells of its device, and what a
// coordinator compares that with. Only figures of this function are compared with one another.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace tributary {

// On one core, in bytes of float32 of one agent.
struct DeviceSpeed {
  std::string family;  // at its default parameters
  double encode_bytes_per_s = 0;
  double aggregate_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
};

// Every family of codecs by trying it on a made-up gradient of 256 KiB: less than a second on a
// desktop's core. `go_on` is asked before each; what comes after a no is not measured, and neither
// is a codec that fails.
std::vector<DeviceSpeed> measure_device(const Clock& clock, const std::function<bool()>& go_on);

}  // namespace tributary
