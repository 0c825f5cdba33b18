// The loops of core/codec/threelc on a device, for whole buckets in host memory.
#pragma once

#include <memory>

#include "core/codec/cuda/threelc/threelc.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/threelc/ternary.h"

namespace tributary::TRIBUTARY_DEVICE {

// The caller keeps `workspaces` alive.
std::unique_ptr<threelc::DeviceLoops> make_ternary_loops(Workspaces& workspaces);

// Make what encode_ternary() and decode_ternary() need, for a bucket that is on the device. All
// memory is that of `space`. Wait for its queue before the work starts in another one.
Result<TernaryEncoding> prepare_ternary_encoding(Workspace& space,
                                                 const threelc::TernaryOptions& options,
                                                 const threelc::Layout& layout, StreamKey draws,
                                                 const float* x);
Result<TernaryDecoding> prepare_ternary_decoding(Workspace& space,
                                                 const threelc::TernaryOptions& options,
                                                 const threelc::Layout& layout,
                                                 const std::uint8_t* body, std::size_t body_bytes,
                                                 bool add, float* x);

}  // namespace tributary::TRIBUTARY_DEVICE
