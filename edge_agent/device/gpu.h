// The GPU of this machine, for programs that are also built where there is no nvcc.
#pragma once

#include <memory>

#include "core/base/status.h"
#include "core/codec/device/codec_device.h"

namespace tributary {

// Fails with unsupported if this build has no code for GPUs, and with unavailable if there is no
// driver or no GPU that it can use. The first call takes the driver some tenths of a second.
Result<std::unique_ptr<CodecDevice>> open_gpu();

}  // namespace tributary
