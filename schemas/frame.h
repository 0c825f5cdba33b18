// Frames: what one side sends to the other, one message each, as FlatBuffers. A frame is opened
// before it is read and checked as it is built, so that what this build sends it would also accept.
// The schemas (*.fbs) say who sends what when; docs/wire.md puts them in order.
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/frame_generated.h"
#include "schemas/kinds.h"

namespace tributary {

// Checks everything that can be checked without knowing the state of the conversation:
//   size under the cap of all frames, alignment, identifier
//   a kind that this build knows (else `unsupported`: refuse the message, keep the connection),
//   size under the cap of the kind
//   FlatBuffers' verifier, with bounds on depth and tables
//   the rules of schemas/checks.h
// The frame is read in place: `bytes` must stay, unchanged, as long as it is used.
//
// `bytes` must begin at a multiple of wire::kFrameAlignment; others are refused.
Result<const wire::Frame*> open_frame(ByteSpan bytes);

// For bytes that begin anywhere, as those from a socket do: they are copied to `aligned` if they
// have to be, and then `aligned` is what must stay. Copied after the cap on their size is checked.
Result<const wire::Frame*> open_frame(ByteSpan bytes, Bytes& aligned);

// Writes a frame; refuses one that open_frame would refuse.
Result<Bytes> build_frame(const wire::FrameT& frame);

// A frame that holds this message; the envelope is still to be filled in.
template <typename MessageT>
wire::FrameT frame_with(MessageT message) {
  wire::FrameT frame;
  frame.message.Set(std::move(message));
  return frame;
}

struct VersionRange {
  std::uint32_t min = wire::kProtocolVersionMin;
  std::uint32_t max = wire::kProtocolVersionMax;
};

// The highest version that both sides speak.
Result<std::uint32_t> agree_on_version(VersionRange ours, VersionRange theirs);

}  // namespace tributary
