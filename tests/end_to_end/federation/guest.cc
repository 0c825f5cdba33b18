#include "tests/end_to_end/federation/guest.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/base/clock.h"
#include "core/net/zmq/spoke.h"
#include "schemas/payload.h"

namespace tributary::end_to_end {

wire::HelloT hello_of(const std::string& agent_id) {
  wire::HelloT hello;
  hello.version_min = hello.version_max = wire::kProtocolVersionMax;
  hello.build = "guest";
  hello.role = wire::Role::agent;
  hello.agent_id = agent_id;
  hello.incarnation = 1;
  hello.capabilities = std::make_unique<wire::CapabilitiesT>();
  return hello;
}

Bytes bytes_of_frame(wire::FrameT frame, std::uint64_t session, std::uint64_t message_id) {
  frame.session = session;
  frame.message_id = message_id;
  const Result<Bytes> bytes = build_frame(frame);
  EXPECT_TRUE(bytes.ok()) << bytes.status().text();
  return bytes.ok() ? *bytes : Bytes();
}

Bytes update_of(const RoundKey& round, std::uint64_t session, ByteSpan payload) {
  wire::UpdateT update;
  update.part = std::make_unique<wire::PartT>();
  update.part->id = std::make_unique<wire::RoundId>(wire_id(round));
  update.part->stage_bytes = payload.size();
  update.part->payload_bytes = static_cast<std::uint32_t>(payload.size());
  update.part->payload_checksum = claim_for(payload).checksum;
  update.weight = 1;
  return bytes_of_frame(frame_with(std::move(update)), session);
}

Guest::Guest(const Federation& federation, const KeyPair& keys, bool encrypted) {
  LinkLimits limits;
  limits.frame_bytes_max = limits.payload_bytes_max = 64u << 20;
  spoke_ = *open_spoke({.endpoint = federation.endpoint(),
                        .keys = keys,
                        .hub = federation.keys_of_coordinator().public_key,
                        .encrypted = encrypted,
                        .limits = limits});
}

std::optional<LinkEvent> Guest::next(std::chrono::nanoseconds patience) {
  const SystemClock clock;
  Result<std::optional<LinkEvent>> event = spoke_->receive(clock.now() + patience);
  EXPECT_TRUE(event.ok()) << event.status().text();
  if (!event.ok() || !*event) return std::nullopt;
  if (const auto* made = std::get_if<Connected>(&**event)) connection_ = made->connection;
  if (std::holds_alternative<Disconnected>(**event)) connection_ = 0;
  return std::move(*event);
}

bool Guest::connect() {
  return eventually([&] {
    if (!connected()) next(std::chrono::milliseconds(10));
    return connected();
  });
}

bool Guest::receives_the_end() {
  return eventually([&] {
    if (connected()) next(std::chrono::milliseconds(10));
    return !connected();
  });
}

bool Guest::send(Bytes frame, Bytes payload) {
  Status status;
  const bool over = eventually([&] {
    status = spoke_->send(connection_, Bytes(frame), Bytes(payload));
    // A full queue empties while events are received.
    if (status.code() != StatusCode::resource_exhausted) return true;
    next(std::chrono::milliseconds(1));
    return false;
  });
  return over && status.ok();
}

std::optional<wire::FrameT> Guest::hear(wire::Message kind) {
  std::optional<wire::FrameT> message;
  eventually([&] {
    const std::optional<Bytes> bytes = overhear();
    if (!bytes) return false;
    Bytes aligned;
    const Result<const wire::Frame*> frame = open_frame(*bytes, aligned);
    EXPECT_TRUE(frame.ok()) << frame.status().text();
    if (!frame.ok() || (*frame)->message_type() != kind) return false;
    (*frame)->UnPackTo(&message.emplace());
    return true;
  });
  return message;
}

std::optional<Bytes> Guest::overhear() {
  std::optional<LinkEvent> event = next(std::chrono::milliseconds(1));
  if (!event) return std::nullopt;
  auto* received = std::get_if<Received>(&*event);
  if (!received) return std::nullopt;
  return std::move(received->frame);
}

std::uint64_t Guest::join(const std::string& agent_id) {
  if (!send(bytes_of_frame(frame_with(hello_of(agent_id)), 0, 1))) return 0;
  const std::optional<wire::FrameT> welcome = hear(wire::Message::Welcome);
  return welcome ? welcome->session : 0;
}

}  // namespace tributary::end_to_end
