#include "core/round/agent/context/client_session.h"

#include <utility>

namespace tributary {

void ClientSession::open(std::uint64_t id, const ConversationTimes& times) {
  conversation_.emplace(PeerId{0}, id, times, context_.now);
}

void ClientSession::close() {
  count_repeated();
  conversation_.reset();
}

void ClientSession::ask(Conversation::Maker maker) {
  if (conversation_) conversation_->ask(context_.now, std::move(maker), context_.out.all());
}

void ClientSession::send(wire::FrameT frame) {
  if (conversation_) conversation_->send(context_.now, std::move(frame), context_.out.all());
}

void ClientSession::send(wire::FrameT frame, const PayloadSlice& payload) {
  if (conversation_)
    conversation_->send(context_.now, std::move(frame), context_.out.all(), 0, &payload);
}

void ClientSession::answer(std::uint64_t message_id) {
  if (!conversation_ || message_id == 0) return;
  conversation_->acknowledge(context_.now, message_id, context_.out.all());
}

void ClientSession::answer_in(std::uint64_t session, std::uint64_t message_id) {
  if (is_open(session)) answer(message_id);
}

void ClientSession::refuse(std::uint64_t message_id, wire::RefusalCode code, const Status& status) {
  context_.out.note(LogLevel::warning, "message_refused", wire::EnumNameRefusalCode(code),
                    status.text());
  if (conversation_) {
    conversation_->refuse(context_.now, message_id, refusal_of(code, status), context_.out.all());
  }
}

// A session counts the bytes that it repeats as `lost_down`. An agent sends upwards, so the
// directions are exchanged.
void ClientSession::count_repeated() {
  if (!conversation_) return;
  const RepeatedBytes own = conversation_->take_traffic().repeated;
  repeated_.lost_up += own.lost_down;
  repeated_.lost_down += own.lost_up;
}

RepeatedBytes ClientSession::take_repeated() {
  count_repeated();
  return std::exchange(repeated_, {});
}

}  // namespace tributary
