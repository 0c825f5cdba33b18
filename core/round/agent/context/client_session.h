// The agent's side of its session with the coordinator. All parts of an agent send through it;
// while no session is open, messages are dropped.
//
// A caller that cannot do without an answer asks again in the next session. A question is repeated
// within a session if it is lost (conversation.h).
//
// Threads: one at a time.
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
  bool is_open() const { return talk_.has_value(); }
  bool is_open(std::uint64_t id) const { return talk_ && talk_->session() == id; }
  // Null while no session is open. For the connection, which passes in what arrives, and for
  // uploads, which send streams.
  Conversation* conversation() { return talk_ ? &*talk_ : nullptr; }
  const Conversation* conversation() const { return talk_ ? &*talk_ : nullptr; }
  // Only while a session is open.
  TimeNs ack_timeout_ns() const { return talk_->times().ack_timeout_ns; }

  // Bytes of the coordinator have arrived, although no frame may be whole.
  void heard() {
    if (talk_) talk_->heard(context_.now);
  }

  void ask(Conversation::Maker maker);
  void send(wire::FrameT frame);
  void send(wire::FrameT frame, const PayloadSlice& payload);

  // --- answers to messages of the coordinator; 0 is no message ---
  void answer(std::uint64_t message_id);
  // It is being worked on: the caller answers or refuses it later. Only while a session is open.
  // The answer is to be given in the session `id()` alone.
  void answer_later(std::uint64_t message_id) { talk_->answer_later(message_id); }
  std::uint64_t id() const { return talk_->session(); }
  void answer_in(std::uint64_t session, std::uint64_t message_id);
  // Notes the refusal, also while no session is open.
  void refuse(std::uint64_t message_id, wire::RefusalCode code, const Status& status);

  // The coordinator has answered everything that was asked.
  bool idle() const { return !talk_ || talk_->unanswered() == 0; }
  // Payload bytes that were repeated in all sessions since the last call.
  RepeatedBytes take_repeated();

 private:
  void count_repeated();

  AgentContext& context_;
  std::optional<Conversation> talk_;
  RepeatedBytes repeated_;
};

}  // namespace tributary
