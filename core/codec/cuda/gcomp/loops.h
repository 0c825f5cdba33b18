// The loops of core/codec/gcomp on a device, for whole buckets in host memory.
#pragma once

#include <memory>

#include "core/codec/cuda/gcomp/gcomp.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/gcomp/device/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

// The caller keeps `workspaces` alive.
std::unique_ptr<gcomp::DeviceLoops> make_gcomp_loops(Workspaces& workspaces);

// Makes the arrays of an encoding, except those that its caller brings: the values, the rule's, the
// code table and the body.
Status make_arrays(Workspace& space, GCompEncoding& encoding);
// Makes those of a decoding, except the body, the begins, the code table and the results.
Status make_arrays(Workspace& space, GCompDecoding& decoding);
Result<BookMaking> make_book_arrays(Workspace& space);

}  // namespace tributary::TRIBUTARY_DEVICE
