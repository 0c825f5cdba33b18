// The loops of core/codec/lowrank on a device, for whole buckets in host memory.
#pragma once

#include <memory>

#include "core/codec/cuda/workspace.h"
#include "core/codec/lowrank/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

// The caller keeps `workspaces` alive.
std::unique_ptr<lowrank::DeviceLoops> make_lowrank_loops(Workspaces& workspaces);

}  // namespace tributary::TRIBUTARY_DEVICE
