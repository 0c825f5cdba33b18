// The loops of core/codec/quantize on a device, for whole buckets in host memory.
#pragma once

#include <memory>

#include "core/codec/cuda/workspace.h"
#include "core/codec/quantize/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

// The caller keeps `workspaces` alive.
std::unique_ptr<quantize::DeviceLoops> make_quantize_loops(Workspaces& workspaces);

}  // namespace tributary::TRIBUTARY_DEVICE
