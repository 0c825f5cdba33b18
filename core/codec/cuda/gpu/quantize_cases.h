// The fixed-width formats on the GPU: encoders and decoders.
#pragma once

#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/cuda/gpu/device_case_testing.h"

namespace tributary::cuda {

// Allocates what the cases need; they share it. The decoders read what the encoders wrote.
Result<std::vector<DeviceCase>> quantize_cases(const FloatVector& update);

}  // namespace tributary::cuda
