// The loops of core/codec/sparse on a device, for whole buckets in host memory.
#pragma once

#include <memory>

#include "core/codec/cuda/workspace.h"
#include "core/codec/sparse/device/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

// The caller keeps `workspaces` alive.
std::unique_ptr<sparse::DeviceLoops> make_sparse_loops(Workspaces& workspaces);

}  // namespace tributary::TRIBUTARY_DEVICE
