// Opens and builds frames: FlatBuffers with one message each.
//
// A frame is checked before it is read, and also when it is built, so a build never sends what it
// would not accept. The schemas (*.fbs) state who sends which message when; docs/wire.md puts them
// in order. All functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/frame_generated.h"
#include "schemas/kinds.h"

namespace tributary {

// Checks everything that does not depend on the state of the session:
//   size within the cap of all frames, alignment, identifier
//   a kind that this build knows
//   size within the cap of the kind
//   FlatBuffers' verifier, with bounds on depth and tables
//   the rules of schemas/checks.h
//
// Returns unsupported for an unknown kind: the receiver logs and drops the message and keeps the
// connection. Returns invalid_argument for a wrong alignment, resource_exhausted above a cap,
// not_finite for NaN or Inf, and corrupt_data otherwise.
//
// The frame is read in place: the caller keeps `bytes` alive and unchanged while it uses the frame.
// `bytes` must begin at a multiple of wire::kFrameAlignment; others are refused.
Result<const wire::Frame*> open_frame(ByteSpan bytes);

// The same for bytes at any address, such as those from a socket. They are copied to `aligned` if
// necessary, after the check of their size; the caller then keeps `aligned` alive.
Result<const wire::Frame*> open_frame(ByteSpan bytes, Bytes& aligned);

// Writes a frame. Returns an error if open_frame() would refuse it.
Result<Bytes> build_frame(const wire::FrameT& frame);

// Returns a frame with this message. The caller fills in the envelope.
template <typename MessageT>
wire::FrameT frame_with(MessageT message) {
  wire::FrameT frame;
  frame.message.Set(std::move(message));
  return frame;
}

// The protocol versions that one side supports, both ends included.
struct VersionRange {
  std::uint32_t min = wire::kProtocolVersionMin;
  std::uint32_t max = wire::kProtocolVersionMax;
};

// Returns the highest version that both sides support, or unsupported if none exists.
Result<std::uint32_t> agree_on_version(VersionRange ours, VersionRange theirs);

}  // namespace tributary
