// The agent's end of its session with the coordinator. All parts of an agent send through it. While
// no session is open, messages are dropped.
//
// A message that requires an answer is repeated within a session if it is lost (conversation.h). It
// is not repeated in the next session; its sender must send it again there.
//
// The agent owns it, and AgentConnection opens and closes it. Sending does no I/O: it adds actions
// to AgentContext::out. The context is borrowed and must outlive the session. Not thread-safe: used
// only while the agent handles an event.
#pragma once

#include <cstdint>
#include <optional>

#include "core/round/agent/context/agent_context.h"
#include "core/round/common/session/conversation.h"

namespace tributary {

class ClientSession {
 public:
  explicit ClientSession(AgentContext& context) : context_(context) {}

  void open(std::uint64_t id, const ConversationTimes& times);
  void close();
  bool is_open() const { return conversation_.has_value(); }
  bool is_open(std::uint64_t id) const { return conversation_ && conversation_->session() == id; }
  // Null while no session is open. For the connection, which passes received frames, and for
  // uploads, which send streams.
  Conversation* conversation() { return conversation_ ? &*conversation_ : nullptr; }
  const Conversation* conversation() const { return conversation_ ? &*conversation_ : nullptr; }
  // Requires an open session.
  TimeNs ack_timeout_ns() const { return conversation_->times().ack_timeout_ns; }

  // Bytes of the coordinator have arrived, although perhaps no complete frame.
  void bytes_arrived() {
    if (conversation_) conversation_->bytes_arrived(context_.now);
  }

  // Sends a message that requires an answer.
  void ask(Conversation::Maker maker);
  // Sends a message that needs no answer.
  void send(wire::FrameT frame);
  void send(wire::FrameT frame, const PayloadSlice& payload);

  // --- answers to messages of the coordinator; id 0 is no message ---
  // Acknowledges the message.
  void answer(std::uint64_t message_id);
  // Defers the answer until the work is done. Requires an open session. The answer is valid only in
  // the session `id()`, which the caller remembers; answer_in() does nothing in another one.
  void answer_later(std::uint64_t message_id) { conversation_->answer_later(message_id); }
  // Requires an open session.
  std::uint64_t id() const { return conversation_->session(); }
  void answer_in(std::uint64_t session, std::uint64_t message_id);
  // Refuses the message. The refusal is noted even while no session is open.
  void refuse(std::uint64_t message_id, wire::RefusalCode code, const Status& status);

  // True if the coordinator has answered every message that requires an answer.
  bool idle() const { return !conversation_ || conversation_->unanswered() == 0; }
  // Payload bytes that were repeated, in all sessions, since the previous call.
  RepeatedBytes take_repeated();

 private:
  void count_repeated();

  AgentContext& context_;
  std::optional<Conversation> conversation_;
  RepeatedBytes repeated_;
};

}  // namespace tributary
