#include "core/round/agent/agent_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schemas/frame.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

std::string text_of(const wire::Refusal& refusal) {
  const auto part = [](const flatbuffers::String* text) {
    return text ? text->string_view() : std::string_view();
  };
  return fmt::format("{}: expected {}, got {}; {}", refusal.what()->string_view(),
                     part(refusal.expected()), part(refusal.got()), part(refusal.remedy()));
}

}  // namespace

// The states of the connection: offline (no Hello is under way), greeting (a Hello waits for its
// answer), online (a session is open).
// --- transport ---------------------------------------------------------------------------------

void AgentConnection::connected() {
  if (state_ == State::online || finished_) return;
  state_ = State::offline;  // a Hello sent before had no receiver, so it is repeated at once
  hello_at_ns_ = context_.now;
  has_connection_ = true;
  no_answer_since_ns_ = kNever;
}

AgentConnection::Change AgentConnection::disconnected() {
  has_connection_ = false;
  return state_ == State::offline ? Change::none : hang_up("disconnected", 0);
}

AgentConnection::Received AgentConnection::receive(const FrameReceived& event, Bytes& aligned) {
  ActionList& out = context_.out;
  const Result<const wire::Frame*> opened = open_frame(event.frame, aligned);
  if (!opened.ok()) {
    const Status status = opened.status();
    out.refuse_frame(name(status.code()), status.text());
    return {};
  }
  // Any readable frame shows that the path to the coordinator works.
  no_answer_since_ns_ = kNever;
  const wire::Frame& frame = **opened;
  if (wire::rules_of(frame.message_type()).has(wire::kHasPayload)) {
    if (Status status = check_payload(frame, event.payload); !status.ok()) {
      out.refuse_frame("bad_checksum", status.text());
      return {};
    }
  }
  if (const wire::Welcome* welcome = frame.message_as_Welcome()) {
    // Ignores the answer to an earlier Hello, perhaps of another connection.
    if (state_ != State::greeting || frame.in_reply_to() != hello_id_) return {};
    welcomed(*welcome, frame.session());
    return {.change = Change::session_opened, .frame = &frame};
  }
  if (const wire::Refusal* refusal = frame.message_as_Refusal();
      refusal && (state_ == State::greeting || session_.is_open(frame.session()))) {
    return {.change = refused(frame, *refusal)};
  }
  if (!session_.is_open(frame.session())) {
    out.refuse_frame("wrong_session", wire::EnumNameMessage(frame.message_type()));
    return {};
  }
  // From here on the frame belongs to the open session. Its counts are taken first, because even a
  // repeated frame acknowledges messages of this side.
  switch (session_.conversation()->arrived(context_.now, frame, out.all())) {
    case Conversation::Arrival::repeat:
      return {};
    case Conversation::Arrival::refused:
      out.refuse_frame("replayed", "a message id that is out of order");
      return {};
    case Conversation::Arrival::fresh:
      break;
  }
  switch (frame.message_type()) {
    case wire::Message::Ack:
      session_.conversation()->answered(frame);
      return {};
    case wire::Message::Heartbeat:
      session_.conversation()->receive_heartbeat(context_.now, frame, out.all());
      return {};
    default:
      return {.frame = &frame};
  }
}

// --- hello -------------------------------------------------------------------------------------

// The new connection begins with another Hello.
void AgentConnection::give_up_silent_connection() {
  const AgentConfig& config = context_.config;
  no_answer_since_ns_ = std::min(no_answer_since_ns_, context_.now);
  if (!has_connection_ || context_.now - no_answer_since_ns_ < config.give_up_after_ms * kNsPerMs) {
    return;
  }
  context_.out.note(LogLevel::warning, "connection_given_up", "silent", "dials again");
  context_.out.add(ClosePeer{});
  has_connection_ = false;
}

// While the agent shuts down it does not ask for a new session: it only waits for the answers of
// the old one.
bool AgentConnection::hello_due() const {
  return state_ != State::online && !shutting_down_ && context_.now >= hello_at_ns_;
}

void AgentConnection::send_hello(std::unique_ptr<wire::CapabilitiesT> capabilities,
                                 std::unique_ptr<wire::HoldingT> holding) {
  const AgentConfig& config = context_.config;
  give_up_silent_connection();
  wire::HelloT hello;
  hello.version_min = wire::kProtocolVersionMin;
  hello.version_max = wire::kProtocolVersionMax;
  hello.build = config.build;
  hello.role = config.role;
  hello.slot_count = config.slots;
  hello.packet_values = config.packet_values;
  hello.agent_id = config.agent_id;
  hello.incarnation = config.incarnation;
  for (const std::string& endpoint : config.endpoints) {
    hello.endpoints.push_back(std::make_unique<wire::EndpointT>());
    hello.endpoints.back()->address = endpoint;
  }
  hello.capabilities = std::move(capabilities);
  if (holding) hello.holdings.push_back(std::move(holding));
  wire::FrameT frame = frame_with(std::move(hello));
  // A new id for every first Hello of a session. Repeats keep the id, so the answer to any copy is
  // accepted and an answer to an older Hello is not.
  if (state_ == State::offline) {
    ++hello_id_;
    hello_wait_ns_ = config.hello_timeout_ms * kNsPerMs;
  } else {
    hello_wait_ns_ = std::min(hello_wait_ns_ * 2, config.hello_timeout_max_ms * kNsPerMs);
  }
  state_ = State::greeting;
  hello_at_ns_ = context_.now + hello_wait_ns_;
  frame.message_id = hello_id_;
  frame.sent_at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(context_.now, 0));
  Result<Bytes> bytes = build_frame(frame);
  if (!bytes.ok()) return finish(bytes.status());
  context_.out.add(Send{.peer = 0, .frame = std::move(*bytes)});
}

void AgentConnection::welcomed(const wire::Welcome& welcome, std::uint64_t session) {
  // The coordinator determines all times of the session. retries_max is at least 1, because with 0
  // the first lost message would end the session.
  session_.open(session, ConversationTimes{
                             .heartbeat_interval_ns = welcome.heartbeat_interval_ms() * kNsPerMs,
                             .heartbeat_timeout_ns = welcome.heartbeat_timeout_ms() * kNsPerMs,
                             .ack_timeout_ns = welcome.ack_timeout_ms() * kNsPerMs,
                             .retries_max = std::max(welcome.retries_max(), 1u)});
  state_ = State::online;
  // The Hello was sent only once, so the Welcome answers that one and the round trip is known.
  if (hello_wait_ns_ == context_.config.hello_timeout_ms * kNsPerMs) {
    const TimeNs sent_at_ns = hello_at_ns_ - hello_wait_ns_;
    session_.conversation()->bulk().window().round_trip(context_.now, context_.now - sent_at_ns);
  }
  duplicate_refusals_ = 0;
}

// --- refusals and the end of a session ---------------------------------------------------------

AgentConnection::Change AgentConnection::refused(const wire::Frame& frame,
                                                 const wire::Refusal& refusal) {
  const std::string text = text_of(refusal);
  if (state_ == State::online) {
    if (refusal.code() == wire::RefusalCode::wrong_session) return hang_up("wrong_session", 0);
    context_.out.note(LogLevel::warning, "refused", wire::EnumNameRefusalCode(refusal.code()),
                      text);
    const bool ours = session_.conversation()->answered(frame).has_value();
    return ours && refusal.closes() ? hang_up("refused", 0) : Change::none;
  }
  // A refusal of a message of an earlier session, whose number may be the same, names that session.
  if (state_ == State::greeting && frame.in_reply_to() == hello_id_ && frame.session() == 0) {
    refused_hello(refusal, text);
  }
  return Change::none;
}

void AgentConnection::refused_hello(const wire::Refusal& refusal, const std::string& text) {
  context_.out.note(LogLevel::warning, "hello_refused", wire::EnumNameRefusalCode(refusal.code()),
                    text);
  const bool duplicate = refusal.code() == wire::RefusalCode::duplicate_agent;
  duplicate_refusals_ = duplicate ? duplicate_refusals_ + 1 : 0;
  // A refusal without a time to retry is final: another Hello would get the same answer. A
  // duplicate is retried, because the coordinator may still have the session of this agent's
  // previous process, which it gives up only after a challenge.
  if (refusal.retry_after_ms() == 0 ||
      duplicate_refusals_ > context_.config.duplicate_refusals_max) {
    return finish(
        Status(duplicate ? StatusCode::already_exists : StatusCode::unsupported,
               {.what = "coordinator's answer", .expected = "welcome", .got = text, .remedy = {}}));
  }
  state_ = State::offline;
  hello_at_ns_ = context_.now + refusal.retry_after_ms() * kNsPerMs;
}

// Ends the session but not the transport's connection. Agents keep replica, residual and undecided
// rounds: the next Hello names them, and the coordinator decides what is sent again.
AgentConnection::Change AgentConnection::hang_up(std::string_view reason, TimeNs again_after_ns) {
  context_.out.note(LogLevel::warning, "session_lost", reason, "begins again with Hello");
  state_ = State::offline;
  session_.close();
  hello_at_ns_ = context_.now + again_after_ns;
  return Change::session_lost;
}

AgentConnection::Change AgentConnection::maintain_session(wire::Activity activity,
                                                          const RoundKey& round) {
  if (state_ != State::online) return Change::none;
  Conversation& conversation = *session_.conversation();
  if (conversation.heartbeat_due(context_.now)) {
    conversation.heartbeat(context_.now, activity, round, context_.out.all());
  }
  const std::string_view trouble = conversation.trouble(context_.now);
  return trouble.empty() ? Change::none : hang_up(trouble, 0);
}

TimeNs AgentConnection::next_due_ns() const {
  if (state_ == State::online) return session_.conversation()->next_due_ns();
  return shutting_down_ ? kNever : hello_at_ns_;
}

void AgentConnection::shut_down(const std::string& reason) {
  shutting_down_ = true;
  session_.ask([reason] {
    wire::LeaveT leave;
    leave.reason = wire::LeaveReason::shutdown;
    leave.text = reason.substr(0, wire::kTextBytesMax);
    return frame_with(std::move(leave));
  });
}

// Finished is emitted once. After it the machine handles no event any more.
void AgentConnection::finish(Status status) {
  if (finished_) return;
  finished_ = true;
  context_.out.add(Finished{.status = std::move(status)});
}

}  // namespace tributary
