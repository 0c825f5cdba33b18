// Fixtures for tests of an agent's parts without a federation: a context, a session, and access to
// the messages and records that the part produced.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/common/machine/packed_testing.h"
#include "schemas/frame.h"

namespace tributary::round_testing {

inline constexpr std::uint64_t kSession = 5;
inline constexpr TimeNs kAckNs = 100 * kNsPerMs;

// The objects that every part of an agent requires.
struct ContextParts {
  AgentContext context;
  ClientSession session{context};

  explicit ContextParts(CodecDevice* device = nullptr) : context(config(device)) {}
  explicit ContextParts(AgentConfig made) : context(std::move(made)) {}
  static AgentConfig config(CodecDevice* device = nullptr) {
    AgentConfig made;
    made.agent_id = "a";
    made.execution.device = device;
    return made;
  }

  void open_session(std::uint64_t id = kSession) {
    session.open(id, {.heartbeat_interval_ns = 10 * kAckNs,
                      .heartbeat_timeout_ns = 100 * kAckNs,
                      .ack_timeout_ns = kAckNs,
                      .retries_max = 3});
  }
  // All actions since the previous call.
  Actions take() { return context.out.take(); }
  // All messages of this kind among the actions since the last call of take() or sent().
  template <typename MessageT>
  std::vector<MessageT> sent() {
    std::vector<MessageT> found;
    for (const Action& action : take()) {
      const auto* send = std::get_if<Send>(&action);
      if (!send) continue;
      Bytes aligned;
      const Result<const wire::Frame*> frame = open_frame(send->frame, aligned);
      EXPECT_TRUE(frame.ok()) << frame.status().text();
      wire::FrameT unpacked;
      (*frame)->UnPackTo(&unpacked);
      if (unpacked.message.type != wire::MessageUnionTraits<MessageT>::enum_value) continue;
      found.push_back(*static_cast<const MessageT*>(unpacked.message.value));
    }
    return found;
  }
  // Stores all waiting records, and returns them.
  std::vector<AgentRecordToStore> store_all() {
    std::vector<AgentRecordToStore> stored;
    while (!context.store.empty()) {
      Actions asked;
      context.store.pump(context.now, asked);
      auto& store = std::get<StoreAgent>(asked.front());
      stored.push_back(std::move(store.record));
      context.store.stored(context.now, Stored{.token = store.token, .status = {}},
                           context.out.all());
    }
    return stored;
  }
};

inline int notes(const Actions& actions, std::string_view name) {
  return static_cast<int>(std::ranges::count_if(actions, [&](const Action& action) {
    const auto* note = std::get_if<Note>(&action);
    return note && note->name == name;
  }));
}

template <typename Kind>
int count(const Actions& actions) {
  return static_cast<int>(std::ranges::count_if(
      actions, [](const Action& action) { return std::holds_alternative<Kind>(action); }));
}

}  // namespace tributary::round_testing
