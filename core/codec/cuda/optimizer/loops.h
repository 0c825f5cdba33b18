// An optimizer's steps over vectors of a device (core/optimizer/device_loops.h).
#pragma once

#include <memory>

#include "core/codec/cuda/workspace.h"
#include "core/optimizer/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

// The workspaces must outlive the result.
std::unique_ptr<optimizer::DeviceLoops> make_optimizer_loops(Workspaces& workspaces);

}  // namespace tributary::TRIBUTARY_DEVICE
