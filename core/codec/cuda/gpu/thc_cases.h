// Measurements of THC's kernels on a GPU.
#pragma once

#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/cuda/gpu/device_case_testing.h"

namespace tributary::cuda {

// Encodes and decodes `update` with the default options. The arrays live as long as the cases.
Result<std::vector<DeviceCase>> thc_cases(const FloatVector& update);

}  // namespace tributary::cuda
