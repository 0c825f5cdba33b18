// Counts the bytes of messages by their use, so that an operator who pays for traffic sees what it
// was spent on. The coordinator publishes the counts with each round.
//
// Frames and payloads are counted at the hand-over to the transport, which adds its own bytes: a
// few per message with ZeroMQ, and 33 more with CURVE. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/round/common/machine/readings.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The uses by which traffic is counted.
enum class MessageUse : std::uint8_t {
  updates,
  aggregates,
  plans,    // and memberships
  commits,  // and acknowledgements that they were applied
  models,   // whole models, for agents that joined late or lost theirs
  reports,
  probes,
  control,  // greetings, jobs, heartbeats, receipts, acknowledgements, refusals
};
inline constexpr std::size_t kMessageUses = 8;

constexpr MessageUse use_of(wire::Message kind) {
  switch (kind) {
    case wire::Message::Preliminary:
    case wire::Message::Update:
      return MessageUse::updates;
    case wire::Message::Aggregate:
      return MessageUse::aggregates;
    case wire::Message::Plan:
    case wire::Message::Membership:
      return MessageUse::plans;
    case wire::Message::Commit:
    case wire::Message::Applied:
      return MessageUse::commits;
    case wire::Message::TransferRequest:
    case wire::Message::TransferOffer:
    case wire::Message::TransferFetch:
    case wire::Message::TransferPart:
      return MessageUse::models;
    case wire::Message::Report:
    case wire::Message::Telemetry:
      return MessageUse::reports;
    case wire::Message::LinkProbe:
      return MessageUse::probes;
    default:
      return MessageUse::control;
  }
}

// The name of a use, and the readings that publish its bytes in a round. Directions are seen from
// the agents.
struct MessageUseNames {
  MessageUse use = MessageUse::control;
  std::string_view name = {};
  ReadingKind up = ReadingKind::up_control_bytes;
  ReadingKind down = ReadingKind::down_control_bytes;
};
inline constexpr std::array<MessageUseNames, kMessageUses> kMessageUseNames = {{
    {MessageUse::updates, "updates", ReadingKind::up_updates_bytes,
     ReadingKind::down_updates_bytes},
    {MessageUse::aggregates, "aggregates", ReadingKind::up_aggregates_bytes,
     ReadingKind::down_aggregates_bytes},
    {MessageUse::plans, "plans", ReadingKind::up_plans_bytes, ReadingKind::down_plans_bytes},
    {MessageUse::commits, "commits", ReadingKind::up_commits_bytes,
     ReadingKind::down_commits_bytes},
    {MessageUse::models, "models", ReadingKind::up_models_bytes, ReadingKind::down_models_bytes},
    {MessageUse::reports, "reports", ReadingKind::up_reports_bytes,
     ReadingKind::down_reports_bytes},
    {MessageUse::probes, "probes", ReadingKind::up_probes_bytes, ReadingKind::down_probes_bytes},
    {MessageUse::control, "control", ReadingKind::up_control_bytes,
     ReadingKind::down_control_bytes},
}};

// Bytes by use.
class MessageBytes {
 public:
  void add(wire::Message kind, std::uint64_t bytes) {
    bytes_[static_cast<std::size_t>(use_of(kind))] += bytes;
  }
  void add(const MessageBytes& others) {
    for (std::size_t i = 0; i < kMessageUses; ++i) bytes_[i] += others.bytes_[i];
  }
  std::uint64_t of(MessageUse use) const { return bytes_[static_cast<std::size_t>(use)]; }

 private:
  std::array<std::uint64_t, kMessageUses> bytes_{};
};

}  // namespace tributary
