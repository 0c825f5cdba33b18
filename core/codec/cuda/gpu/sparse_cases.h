// The sparse codecs on the GPU: selections, and the inverse.
#pragma once

#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/cuda/gpu/device_case_testing.h"

namespace tributary::cuda {

// Allocates what the cases need; they share it. `topk decode` reads what `topk encode` wrote. The
// encoders leave indices and values on the device; the host codes the indices.
Result<std::vector<DeviceCase>> sparse_cases(const FloatVector& update);

}  // namespace tributary::cuda
