// Vectors in the memory of a device (core/codec/device/device_vector.h).
#pragma once

#include <memory>

#include "core/codec/cuda/workspace.h"
#include "core/codec/device/device_vector.h"

namespace tributary::TRIBUTARY_DEVICE {

// The caller keeps `workspaces` alive.
std::unique_ptr<DeviceVectors> make_device_vectors(Workspaces& workspaces);

}  // namespace tributary::TRIBUTARY_DEVICE
