#include "schemas/frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "schemas/checks.h"
#include "schemas/walk.h"

namespace tributary {
namespace {

using flatbuffers::Verifier;

// A damaged frame that passed the transport's encryption points to a faulty sender.
Status damaged(std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data,
                {.what = "frame",
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "refuse it; if it comes again, the sender is at fault"});
}

Status too_large(std::string_view what, std::size_t bytes_max, std::size_t bytes) {
  return Status(StatusCode::resource_exhausted,
                {.what = std::string(what),
                 .expected = fmt::format("at most {} bytes", bytes_max),
                 .got = fmt::format("{}", bytes),
                 .remedy = "send it in several frames, or its bulk as a payload"});
}

Status check_size(ByteSpan bytes) {
  if (bytes.size() > wire::kFrameBytesMax) {
    return too_large("frame", wire::kFrameBytesMax, bytes.size());
  }
  if (bytes.size() < wire::kFrameBytesMin) {
    return damaged(fmt::format("{} bytes or more", wire::kFrameBytesMin),
                   fmt::format("{}", bytes.size()));
  }
  return {};
}

bool is_aligned(ByteSpan bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % wire::kFrameAlignment == 0;
}

// The bounds limit the time of a verification.
Verifier make_verifier(ByteSpan bytes) {
  Verifier::Options options;
  options.max_depth = wire::kFrameDepthMax;
  options.max_tables = wire::kFrameTablesMax;
  return Verifier(bytes.data(), bytes.size(), options);
}

// Reads the kind, which determines the size cap. Everything else is read only after the verifier
// has checked the whole frame.
Result<wire::Message> read_kind(ByteSpan bytes) {
  Verifier verifier = make_verifier(bytes);
  const flatbuffers::uoffset_t root = verifier.VerifyOffset(0);
  if (root != 0) {
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(bytes.data() + root);
    constexpr auto kField = wire::Frame::VT_MESSAGE_TYPE;
    if (table->VerifyTableStart(verifier) &&
        table->VerifyField<std::uint8_t>(verifier, kField, 1)) {
      return static_cast<wire::Message>(table->GetField<std::uint8_t>(kField, 0));
    }
  }
  return damaged("a root table inside the frame", "offsets that lead out of it");
}

Status check_kind(wire::Message kind, std::size_t bytes) {
  if (kind == wire::Message::NONE) return damaged("a message", "none");
  if (!wire::is_known(kind)) {
    return Status(StatusCode::unsupported,
                  {.what = "frame",
                   .expected = fmt::format("a message of kind 1 to {}",
                                           static_cast<unsigned>(wire::Message::MAX)),
                   .got = fmt::format("kind {}", static_cast<unsigned>(kind)),
                   .remedy = "it comes from a newer version: update this one to use it"});
  }
  const std::size_t bytes_max = wire::rules_of(kind).frame_bytes_max;
  return bytes > bytes_max ? too_large(wire::name(kind), bytes_max, bytes) : Status();
}

}  // namespace

// The order is from cheap to expensive checks, and no check reads what an earlier one has not
// bounded.
Result<const wire::Frame*> open_frame(ByteSpan bytes) {
  TRIBUTARY_TRY(check_size(bytes));
  if (!is_aligned(bytes)) {
    return Status(
        StatusCode::invalid_argument,
        {.what = "frame",
         .expected = fmt::format("an address that is a multiple of {}", wire::kFrameAlignment),
         .got = "another one",
         .remedy = "call open_frame with a buffer for an aligned copy"});
  }
  if (!wire::FrameBufferHasIdentifier(bytes.data())) {
    return damaged(fmt::format("the identifier {}", wire::FrameIdentifier()), "another one");
  }
  TRIBUTARY_ASSIGN(const wire::Message kind, read_kind(bytes));
  TRIBUTARY_TRY(check_kind(kind, bytes.size()));

  Verifier verifier = make_verifier(bytes);
  if (!wire::VerifyFrameBuffer(verifier)) {
    return damaged(fmt::format("a sound {}", wire::name(kind)),
                   "offsets or lengths that lead out of it, or too many tables");
  }
  const wire::Frame* frame = wire::GetFrame(bytes.data());
  // A union may have a kind without a message.
  if (frame->message() == nullptr) return damaged(fmt::format("a {}", wire::name(kind)), "nothing");
  TRIBUTARY_TRY(wire::check_all_fields(*frame, bytes.size()));
  TRIBUTARY_TRY(wire::check_envelope(*frame).at(wire::name(kind)));
  TRIBUTARY_TRY(wire::visit_message(*frame, [](const auto& message) {
                  return wire::check(message);
                }).at(wire::name(kind)));
  return frame;
}

Result<const wire::Frame*> open_frame(ByteSpan bytes, Bytes& aligned) {
  if (is_aligned(bytes)) return open_frame(bytes);
  TRIBUTARY_TRY(check_size(bytes));
  aligned.assign(bytes.begin(), bytes.end());
  return open_frame(aligned);
}

Result<Bytes> build_frame(const wire::FrameT& frame) {
  flatbuffers::FlatBufferBuilder builder;
  wire::FinishFrameBuffer(builder, wire::Frame::Pack(builder, &frame));
  Bytes bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  TRIBUTARY_TRY(open_frame(bytes).status());
  return bytes;
}

Result<std::uint32_t> agree_on_version(VersionRange ours, VersionRange theirs) {
  const std::uint32_t version = std::min(ours.max, theirs.max);
  const bool sound = theirs.min >= 1 && theirs.min <= theirs.max;
  if (sound && version >= ours.min && version >= theirs.min) return version;
  return Status(StatusCode::unsupported,
                {.what = "protocol version",
                 .expected = fmt::format("one of {} to {}", ours.min, ours.max),
                 .got = fmt::format("{} to {}", theirs.min, theirs.max),
                 .remedy = theirs.max < ours.min ? "update the other side" : "update this side"});
}

}  // namespace tributary
