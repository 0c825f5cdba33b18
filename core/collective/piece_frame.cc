#include "core/collective/piece_frame.h"

#include <fmt/format.h>

#include <memory>
#include <tuple>
#include <utility>

#include "core/codec/payload.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

std::string text(const wire::RoundId& id) {
  return fmt::format("job {} round {} (epoch {}, attempt {})", id.job(), id.round(), id.epoch(),
                     id.attempt());
}

// The part has no checksum of its own: a codec's payload contains one, and its decoder checks it.
std::unique_ptr<wire::PartT> part_of(const ExchangeId& id, const Piece& piece, ByteSpan payload) {
  const auto bytes = static_cast<std::uint32_t>(payload.size());
  auto part = std::make_unique<wire::PartT>();
  part->id = std::make_unique<wire::RoundId>(id.round);
  part->bucket = piece.bucket;
  part->stage = piece.stage;
  part->stage_bytes = bytes;
  part->payload_bytes = bytes;
  return part;
}

// Compares epoch, round and attempt in this order to tell late pieces from early ones.
Status check_id(const ExchangeId& id, const wire::RoundId& got) {
  if (got == id.round) return {};
  const auto order = [](const wire::RoundId& x) {
    return std::tuple(x.epoch(), x.round(), x.attempt());
  };
  const bool same = got.job() == id.round.job();
  const bool late = same && order(got) < order(id.round);
  const StatusCode code = late   ? StatusCode::cancelled
                          : same ? StatusCode::unavailable
                                 : StatusCode::mismatch;
  return Status(code, {.what = "a piece from a peer",
                       .expected = text(id.round),
                       .got = text(got),
                       .remedy = late ? "ignore the piece" : "the piece must wait for its round"});
}

// Checks everything that does not depend on the exchange's state. The order matters for the caller:
// a piece of another round is reported by its code (cancelled: late, unavailable: early) before its
// form is checked.
template <typename Message>
Result<Piece> read(const ExchangeId& id, const Message& message, std::size_t payload_bytes,
                   bool partial, std::int64_t origin) {
  const wire::Part& part = *message.part();
  if (part.payload_bytes() != payload_bytes) {
    return Status(StatusCode::corrupt_data,
                  {.what = "payload of a piece from a peer",
                   .expected = fmt::format("{} bytes", part.payload_bytes()),
                   .got = fmt::format("{}", payload_bytes)});
  }
  TRIBUTARY_TRY(check_id(id, *part.id()));
  if (part.payload_bytes() != part.stage_bytes() || part.segments() != 1 || origin < 0) {
    return Status(StatusCode::unsupported,
                  {.what = "a piece from a peer",
                   .expected = "whole, and made by a member",
                   .got = fmt::format("{} of {} bytes, by member {}", part.payload_bytes(),
                                      part.stage_bytes(), origin),
                   .remedy = "plan smaller buckets"});
  }
  return Piece{.bucket = part.bucket(),
               .stage = part.stage(),
               .partial = partial,
               .origin = static_cast<std::uint32_t>(origin)};
}

}  // namespace

// Peers use the message kinds of the star: Aggregate for a payload that is final, Update and
// Preliminary for partial sums of the last stage and of the stages before it.
Result<Bytes> piece_frame(const ExchangeId& id, const Piece& piece, bool last_stage,
                          ByteSpan payload) {
  const auto build = [&id](auto message) {
    wire::FrameT frame = frame_with(std::move(message));
    frame.session = id.session;
    return build_frame(frame);
  };
  if (!piece.partial) {
    wire::AggregateT whole;
    whole.part = part_of(id, piece, payload);
    whole.agent_index = static_cast<std::int32_t>(piece.origin);
    whole.contributors = contributors_stated(payload);
    return build(std::move(whole));
  }
  if (last_stage) {
    wire::UpdateT update;
    update.part = part_of(id, piece, payload);
    update.agent_index = piece.origin;
    update.weight = 1;  // the plan fixes the weight; members cannot check it
    update.contributors = contributors_stated(payload);
    return build(std::move(update));
  }
  wire::PreliminaryT preliminary;
  preliminary.part = part_of(id, piece, payload);
  preliminary.agent_index = piece.origin;
  return build(std::move(preliminary));
}

Result<Piece> read_piece(const ExchangeId& id, std::uint32_t from, ByteSpan bytes,
                         ByteSpan payload) {
  Bytes aligned;
  TRIBUTARY_ASSIGN(const wire::Frame* const frame, open_frame(bytes, aligned));
  if (frame->session() != id.session) {
    return Status(StatusCode::mismatch, {.what = fmt::format("a frame from member {}", from),
                                         .expected = "the session of this epoch",
                                         .got = "another",
                                         .remedy = "the frame must wait for the next membership"});
  }
  switch (frame->message_type()) {
    case wire::Message::Aggregate: {
      const auto& whole = *frame->message_as_Aggregate();
      return read(id, whole, payload.size(), false, whole.agent_index());
    }
    case wire::Message::Update: {
      const auto& update = *frame->message_as_Update();
      return read(id, update, payload.size(), true, update.agent_index());
    }
    case wire::Message::Preliminary: {
      const auto& preliminary = *frame->message_as_Preliminary();
      return read(id, preliminary, payload.size(), true, preliminary.agent_index());
    }
    default:
      return Status(StatusCode::mismatch, {.what = fmt::format("a frame from member {}", from),
                                           .expected = "Preliminary, Update or Aggregate",
                                           .got = wire::EnumNameMessage(frame->message_type())});
  }
}

}  // namespace tributary
