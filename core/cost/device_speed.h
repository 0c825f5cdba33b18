// Measures the speed of this machine at each codec. An agent reports it, and the coordinator
// compares agents by it. Only results of this function are comparable with each other.
//
// It takes no input, so that two machines measure the same work. A busy machine measures lower
// speeds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace tributary {

// Speeds on one core, in bytes of one agent's float32 values per second.
struct DeviceSpeed {
  std::string family;  // codec family, measured with its default parameters
  double encode_bytes_per_s = 0;
  double aggregate_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
};

// Measures every family of codecs on a synthetic gradient of 256 KiB: less than a second on a
// desktop core. `go_on` is called before each family; after it returns false, no further family is
// measured. A codec that fails is left out. Blocks the caller's thread.
// The measurement runs without error feedback, because a residual would make rounds differ.
std::vector<DeviceSpeed> measure_device(const Clock& clock, const std::function<bool()>& go_on);

}  // namespace tributary
