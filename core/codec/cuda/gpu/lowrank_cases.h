// The measurements of PowerSGD's products on a GPU.
#pragma once

#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/cuda/gpu/device_case_testing.h"

namespace tributary::cuda {

Result<std::vector<DeviceCase>> lowrank_cases(const FloatVector& update);

}  // namespace tributary::cuda
