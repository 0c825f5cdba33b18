#include "core/sim/link/hostile.h"

#include <algorithm>
#include <array>
#include <memory>

#include "schemas/frame.h"

namespace tributary {
namespace {

// Sizes at the limits of their types.
// They overflow sums, casts to 32 bits and signed arithmetic in a receiver that does not check.
constexpr std::array<std::uint64_t, 8> kLies = {
    0,         1, 0xffff, 0x7fffffff, 0xffffffff, std::uint64_t{1} << 40, std::uint64_t{1} << 62,
    UINT64_MAX};

std::uint64_t lie(SeededDraws& draws) { return kLies[draws.below(kLies.size())]; }
std::uint32_t small_lie(SeededDraws& draws) { return static_cast<std::uint32_t>(lie(draws)); }

// Changes one size of a part.
void lie_in(wire::PartT& part, SeededDraws& draws) {
  switch (draws.below(5)) {
    case 0:
      part.stage_bytes = lie(draws);
      break;
    case 1:
      part.offset = lie(draws);
      break;
    case 2:
      part.payload_bytes = small_lie(draws);
      break;
    case 3:  // within the payload, where it does not fit
      part.offset = draws.below(part.stage_bytes + 1);
      break;
    default:  // consistent, but far more bytes than are ever sent
      part.stage_bytes = (std::uint64_t{1} << 30) - draws.below(1000);
      break;
  }
}

// Returns false if messages of this kind contain no sizes.
bool lie_in(wire::MessageUnion& message, SeededDraws& draws) {
  switch (message.type) {
    case wire::Message::Preliminary:
      lie_in(*message.AsPreliminary()->part, draws);
      return true;
    case wire::Message::Update:
      lie_in(*message.AsUpdate()->part, draws);
      return true;
    case wire::Message::Aggregate:
      lie_in(*message.AsAggregate()->part, draws);
      return true;
    case wire::Message::Receipt:
      message.AsReceipt()->waiting_bytes = lie(draws);
      return true;
    default:
      return false;
  }
}

std::shared_ptr<Bytes> copy_of(ByteSpan bytes) {
  return std::make_shared<Bytes>(bytes.begin(), bytes.end());
}

}  // namespace

std::optional<Message> lie_about_sizes(const Message& message, SeededDraws& draws) {
  wire::FrameT frame;
  wire::GetFrame(message.frame.data())->UnPackTo(&frame);
  if (!lie_in(frame.message, draws)) return std::nullopt;
  // The frame may also confirm messages that were never sent.
  if (draws.chance(0.2)) frame.bulk_received = lie(draws);
  if (draws.chance(0.2)) frame.messages_received = lie(draws);
  // Unlike build_frame(), the builder also builds frames that break the rules.
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(wire::Frame::Pack(builder, &frame), wire::FrameIdentifier());
  Message lied = message;
  lied.frame.assign(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  return lied;
}

Message noise(SeededDraws& draws) {
  Message message;
  message.frame.resize(draws.below(400));
  std::ranges::generate(message.frame, [&] { return static_cast<std::uint8_t>(draws.bits()); });
  if (message.frame.size() > 8 && draws.chance(0.5)) {
    // The beginning of a flatbuffer with the schema's identifier.
    constexpr std::array<std::uint8_t, 8> kStart = {16, 0, 0, 0, 'T', 'R', 'I', 'B'};
    std::ranges::copy(kStart, message.frame.begin());
  }
  message.has_payload = draws.chance(0.3);
  if (message.has_payload) {
    const auto bytes = std::make_shared<Bytes>(draws.below(5000), std::uint8_t{0x5a});
    message.payload = {bytes, *bytes};
  }
  return message;
}

std::optional<Message> flip_a_bit(const Message& message, SeededDraws& draws) {
  Message flipped = message;
  // Frame and payload are hit in proportion to their sizes.
  const std::uint64_t bit = draws.below(message.bytes() * 8);
  const std::uint64_t byte = bit / 8;
  const auto mask = static_cast<std::uint8_t>(1u << (bit % 8));
  if (byte < flipped.frame.size()) {
    flipped.frame[byte] ^= mask;
    if (open_frame(flipped.frame).ok()) return std::nullopt;
    return flipped;
  }
  const auto payload = copy_of(message.payload.bytes);
  (*payload)[byte - flipped.frame.size()] ^= mask;
  flipped.payload = {payload, *payload};
  return flipped;
}

}  // namespace tributary
