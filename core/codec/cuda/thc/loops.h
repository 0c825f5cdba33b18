// The loops of core/codec/thc on a device, for whole buckets in host memory.
#pragma once

#include <memory>

#include "core/codec/cuda/workspace.h"
#include "core/codec/thc/device/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

// The caller keeps `workspaces` alive.
std::unique_ptr<thc::DeviceLoops> make_thc_loops(Workspaces& workspaces);

}  // namespace tributary::TRIBUTARY_DEVICE
