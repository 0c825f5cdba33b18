// The properties of each kind of message: its size limit and its role in a session. The table is
// constant.
#pragma once

#include <cstddef>
#include <string_view>

#include "schemas/frame_generated.h"
#include "schemas/limits.h"

namespace tributary::wire {

enum KindTrait : unsigned {
  kBeforeSession = 1,   // allowed before a session exists
  kRequiresAnswer = 2,  // has a message id; repeated with it until it is answered
  kIsAnswer = 4,        // names the message that it answers
  kHasPayload = 8,      // the next message part is its payload, which may be empty
};

// One row of the table below.
struct KindRules {
  Message kind;
  std::size_t frame_bytes_max;
  unsigned traits;

  constexpr bool has(KindTrait trait) const { return (traits & trait) != 0; }
};

// In the order of the union, so that the number of a kind is its index.
inline constexpr KindRules kKindRules[] = {
    {Message::NONE, 0, 0},
    {Message::Hello, kTextFrameBytesMax, kBeforeSession | kRequiresAnswer},
    {Message::Welcome, kTextFrameBytesMax, kIsAnswer},
    {Message::Refusal, kSmallFrameBytesMax, kBeforeSession},
    {Message::Ack, kFixedFrameBytesMax, kIsAnswer},
    {Message::Heartbeat, kFixedFrameBytesMax, 0},
    {Message::Job, kFrameBytesMax, kRequiresAnswer},
    {Message::JobChange, kSmallFrameBytesMax, kRequiresAnswer},
    {Message::Membership, kLongFrameBytesMax, kRequiresAnswer},
    {Message::PeerHello, kFixedFrameBytesMax, kRequiresAnswer},
    {Message::Plan, kLongFrameBytesMax, kRequiresAnswer},
    {Message::Preliminary, kFixedFrameBytesMax, kHasPayload},
    {Message::Update, kSmallFrameBytesMax, kHasPayload},
    {Message::Aggregate, kSmallFrameBytesMax, kHasPayload},
    {Message::Receipt, kTextFrameBytesMax, 0},
    {Message::Report, kTextFrameBytesMax, kRequiresAnswer},
    {Message::Commit, kLongFrameBytesMax, kRequiresAnswer},
    {Message::Applied, kFixedFrameBytesMax, kRequiresAnswer},
    {Message::Abort, kSmallFrameBytesMax, kRequiresAnswer},
    {Message::TransferRequest, kSmallFrameBytesMax, kRequiresAnswer},
    {Message::TransferOffer, kListFrameBytesMax, kRequiresAnswer},
    {Message::TransferFetch, kFixedFrameBytesMax, 0},
    {Message::TransferPart, kFixedFrameBytesMax, kHasPayload},
    {Message::LinkProbe, kSmallFrameBytesMax, kHasPayload},
    {Message::Telemetry, kListFrameBytesMax, 0},
    {Message::Leave, kSmallFrameBytesMax, kRequiresAnswer},
    {Message::InstallEpoch, kSmallFrameBytesMax, kRequiresAnswer},
    {Message::EpochInstalled, kSmallFrameBytesMax, kRequiresAnswer},
};

constexpr bool is_known(Message kind) { return kind >= Message::MIN && kind <= Message::MAX; }

// `kind` must be a kind that this build knows.
constexpr const KindRules& rules_of(Message kind) {
  return kKindRules[static_cast<std::size_t>(kind)];
}

constexpr bool kind_rules_are_in_place() {
  std::size_t place = 0;
  for (const KindRules& rules : kKindRules) {
    if (static_cast<std::size_t>(rules.kind) != place++) return false;
  }
  return place == static_cast<std::size_t>(Message::MAX) + 1;
}
static_assert(kind_rules_are_in_place(), "a kind of message has no row, or not in its place");

inline std::string_view name(Message kind) { return EnumNameMessage(kind); }

}  // namespace tributary::wire
