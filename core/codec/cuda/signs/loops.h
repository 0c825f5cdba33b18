// The loops of core/codec/signs on a device, for whole buckets in host memory.
#pragma once

#include <memory>

#include "core/codec/cuda/workspace.h"
#include "core/codec/signs/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

// The caller keeps `workspaces` alive.
std::unique_ptr<signs::DeviceLoops> make_sign_loops(Workspaces& workspaces);

}  // namespace tributary::TRIBUTARY_DEVICE
