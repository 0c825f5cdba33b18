// Sessions: who comes in, who is heard, who is lost.
#include "core/round/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/round/coordinator_impl.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

ConversationTimes times_of(const CoordinatorConfig& config) {
  return {.heartbeat_interval_ns = config.heartbeat_interval_ms * kNsPerMs,
          .heartbeat_timeout_ns = config.heartbeat_timeout_ms * kNsPerMs,
          .ack_timeout_ns = config.ack_timeout_ms * kNsPerMs,
          .retries_max = config.retries_max};
}

// What an agent may send within a session.
bool from_agents(wire::Message kind) {
  switch (kind) {
    case wire::Message::Ack:
    case wire::Message::Refusal:
    case wire::Message::Heartbeat:
    case wire::Message::Preliminary:
    case wire::Message::Update:
    case wire::Message::Aggregate:
    case wire::Message::Receipt:
    case wire::Message::Report:
    case wire::Message::Applied:
    case wire::Message::Abort:
    case wire::Message::TransferRequest:
    case wire::Message::TransferFetch:
    case wire::Message::LinkProbe:
    case wire::Message::Telemetry:
    case wire::Message::Leave:
      return true;
    default:
      return false;
  }
}

}  // namespace

// --- frames ------------------------------------------------------------------------------------

std::string Coordinator::Impl::source_of(const FrameReceived& event) const {
  if (!event.authenticated_as.empty()) return std::string(event.authenticated_as);
  return fmt::format("peer {}", event.peer);
}

void Coordinator::Impl::on(const FrameReceived& event) {
  const Result<const wire::Frame*> opened = open_frame(event.frame, aligned_);
  if (!opened.ok()) {
    const Status status = opened.status();
    return desk_.note(LogLevel::warning, "frame_refused", name(status.code()), source_of(event),
                      status.text());
  }
  const wire::Frame& frame = **opened;
  if (wire::rules_of(frame.message_type()).has(wire::kHasPayload)) {
    if (Status status = check_payload(frame, event.payload); !status.ok()) {
      return desk_.note(LogLevel::warning, "frame_refused", "bad_checksum", source_of(event),
                        status.text());
    }
  }
  if (frame.message_type() == wire::Message::Hello) return hello(event, frame);
  AgentSession* session = desk_.roster.by_session(frame.session());
  if (!session || session->conversation.peer() != event.peer) {
    return refuse_stranger(event, frame, wire::RefusalCode::wrong_session, "wrong_session",
                           {.what = "session",
                            .expected = "one of this coordinator, over its own connection",
                            .got = "another",
                            .remedy = "begin with Hello"},
                           true);
  }
  const std::uint64_t number = frame.session();
  in_session(*session, frame, event);
  if (AgentSession* const still = desk_.roster.by_session(number)) {
    still->conversation.acknowledge_bulk(desk_.now, desk_.out);
  }
}

void Coordinator::Impl::on(const PeerAlive& event) {
  for (const auto& [number, session] : desk_.roster.all()) {
    if (session->conversation.peer() == event.peer) session->conversation.heard(desk_.now);
  }
}

void Coordinator::Impl::refuse_stranger(const FrameReceived& event, const wire::Frame& frame,
                                        wire::RefusalCode code, std::string_view reason,
                                        Fault fault, bool closes, std::uint32_t retry_after_ms) {
  desk_.note(LogLevel::warning, "frame_refused", reason, source_of(event),
             fmt::format("{}: expected {}, got {}", fault.what, fault.expected, fault.got));
  if (frame.message_type() == wire::Message::Refusal) return;  // two refusals would never end
  wire::RefusalT refusal = refusal_of(code, std::move(fault));
  refusal.closes = closes;
  refusal.retry_after_ms = retry_after_ms;
  wire::FrameT answer = frame_with(std::move(refusal));
  answer.session = frame.session();
  answer.in_reply_to = frame.message_id();
  answer.sent_at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(desk_.now, 0));
  Result<Bytes> bytes = build_frame(answer);
  if (bytes.ok()) desk_.out.emplace_back(Send{.peer = event.peer, .frame = std::move(*bytes)});
}

// --- hello -------------------------------------------------------------------------------------

bool Coordinator::Impl::may_come_in(const FrameReceived& event, const wire::Frame& frame,
                                    const wire::Hello& hello) {
  const Result<std::uint32_t> version =
      agree_on_version({}, {.min = hello.version_min(), .max = hello.version_max()});
  if (!version.ok()) {
    refuse_stranger(event, frame, wire::RefusalCode::version, "version", version.status().fault(),
                    true);
    return false;
  }
  if (hello.role() != wire::Role::agent) {
    refuse_stranger(event, frame, wire::RefusalCode::unsupported, "unsupported",
                    {.what = "role", .expected = "agent", .got = "another", .remedy = {}}, true);
    return false;
  }
  if (!event.authenticated_as.empty() &&
      event.authenticated_as != hello.agent_id()->string_view()) {
    refuse_stranger(event, frame, wire::RefusalCode::not_allowed, "not_allowed",
                    {.what = "agent id",
                     .expected = std::string(event.authenticated_as),
                     .got = hello.agent_id()->str(),
                     .remedy = "use the id that the key was allowed for"},
                    true);
    return false;
  }
  if (shutting_down_ || desk_.roster.size() >= desk_.config.agents_max) {
    refuse_stranger(event, frame,
                    shutting_down_ ? wire::RefusalCode::shutting_down : wire::RefusalCode::busy,
                    shutting_down_ ? "shutting_down" : "busy",
                    {.what = "coordinator",
                     .expected = "room for another agent",
                     .got = "none",
                     .remedy = "try again later"},
                    false, desk_.config.heartbeat_timeout_ms);
    return false;
  }
  return true;
}

void Coordinator::Impl::hello(const FrameReceived& event, const wire::Frame& frame) {
  const wire::Hello& hello = *frame.message_as_Hello();
  if (!may_come_in(event, frame, hello)) return;
  AgentSession* known = desk_.roster.by_agent(hello.agent_id()->str());
  if (!known) return welcome(event, frame, hello, 0);
  if (known->incarnation == hello.incarnation()) {
    if (known->conversation.peer() == event.peer && known->hello_id == frame.message_id()) {
      return send_welcome(*known, frame.message_id());
    }
    return welcome(event, frame, hello, known->conversation.session());
  }
  // Another process under the same name. If the one that is known does not answer, it is gone.
  const TimeNs patience = 2 * known->conversation.times().ack_timeout_ns;
  if (known->challenged_at_ns != 0 && desk_.now >= known->challenged_at_ns + patience &&
      known->conversation.heard_at_ns() <= known->challenged_at_ns) {
    lose(known->conversation.session(), "replaced");
    return welcome(event, frame, hello, 0);
  }
  if (known->challenged_at_ns == 0 || known->conversation.heard_at_ns() > known->challenged_at_ns) {
    known->challenged_at_ns = desk_.now;
    known->conversation.heartbeat(desk_.now, wire::Activity::waiting, {}, desk_.out);
  }
  refuse_stranger(event, frame, wire::RefusalCode::duplicate_agent, "duplicate_agent",
                  {.what = "agent id",
                   .expected = "one that no living process uses",
                   .got = known->agent_id,
                   .remedy = "stop the other process, or give this one another id"},
                  false, 2 * desk_.config.ack_timeout_ms + 1);
}

void Coordinator::Impl::welcome(const FrameReceived& event, const wire::Frame& frame,
                                const wire::Hello& hello, std::uint64_t before) {
  if (before != 0) {
    AgentSession* old = desk_.roster.by_session(before);
    if (old && old->conversation.peer() != event.peer) {
      desk_.out.emplace_back(ClosePeer{.peer = old->conversation.peer()});
    }
    if (JobRun* const worked_for = old ? run_of(*old) : nullptr) worked_for->count(*old);
    desk_.roster.remove(before);
  }
  auto made = std::make_unique<AgentSession>(
      hello.agent_id()->str(), hello.incarnation(),
      Conversation(event.peer, desk_.draw(), times_of(desk_.config), desk_.now));
  made->hello_id = frame.message_id();
  made->received.add(wire::Message::Hello, event.frame.size());
  made->public_key.assign(event.authenticated_key.begin(), event.authenticated_key.end());
  if (hello.endpoints() && hello.endpoints()->size() > 0) {
    made->endpoint = hello.endpoints()->Get(0)->address()->str();
  }
  if (hello.build()) made->build = hello.build()->str();
  if (hello.capabilities() && hello.capabilities()->device() &&
      hello.capabilities()->device()->model()) {
    made->device_model = hello.capabilities()->device()->model()->str();
  }
  for (std::uint32_t i = 0; hello.holdings() && i < hello.holdings()->size(); ++i) {
    hello.holdings()->Get(i)->UnPackTo(&made->holdings.emplace_back());
  }
  AgentSession& session = desk_.roster.add(std::move(made));
  session.conversation.set_bulk_limits({.part_bytes_max = part_bytes_max(desk_.config)});
  JobRun* const run = choose_run(session);
  if (run) session.run = run->record().job;
  send_welcome(session, frame.message_id());
  desk_.record_agent(session, true);
  if (hello.capabilities()) tell_speeds(session, hello.capabilities()->codecs());
  if (run) run->joined(session, before);
}

void Coordinator::Impl::send_welcome(AgentSession& session, std::uint64_t hello_id) {
  const CoordinatorConfig& config = desk_.config;
  wire::WelcomeT welcome;
  welcome.version = wire::kProtocolVersionMax;
  welcome.build = config.build;
  welcome.federation = config.federation;
  welcome.heartbeat_interval_ms = config.heartbeat_interval_ms;
  welcome.heartbeat_timeout_ms = config.heartbeat_timeout_ms;
  welcome.ack_timeout_ms = config.ack_timeout_ms;
  welcome.retries_max = config.retries_max;
  welcome.limits = std::make_unique<wire::LimitsT>();
  welcome.limits->frame_bytes_max = wire::kFrameBytesMax;
  welcome.limits->payload_bytes_max = config.payload_bytes_max;
  const JobRun* const run = run_of(session);
  welcome.limits->payloads_in_flight_max = run ? run->window() : 1;
  if (run) welcome.standings.push_back(std::make_unique<wire::StandingT>(run->standing(session)));
  session.conversation.send(desk_.now, frame_with(std::move(welcome)), desk_.out, hello_id);
}

// --- in a session ------------------------------------------------------------------------------

void Coordinator::Impl::in_session(AgentSession& session, const wire::Frame& frame,
                                   const FrameReceived& event) {
  const wire::Message kind = frame.message_type();
  session.received.add(kind, event.frame.size() + event.payload.size());
  if (kind != wire::Message::LinkProbe) session.payload_bytes_in += event.payload.size();
  if (!from_agents(kind)) {
    return desk_.refuse(session, "not_allowed",
                        fmt::format("{} from an agent", wire::EnumNameMessage(kind)));
  }
  switch (session.conversation.arrived(desk_.now, frame, desk_.out)) {
    case Conversation::Arrival::repeat:
      return;
    case Conversation::Arrival::refused:
      return desk_.refuse(session, "replayed", "a message id that is out of order");
    case Conversation::Arrival::fresh:
      break;
  }
  const std::uint64_t number = session.conversation.session();
  if (frame.message_id() != 0) {
    session.conversation.acknowledge(desk_.now, frame.message_id(), desk_.out);
  }
  switch (kind) {
    case wire::Message::Ack:
    case wire::Message::Refusal:
      return answer(session, frame);
    case wire::Message::Heartbeat:
      if (const auto trip = session.conversation.heard_heartbeat(desk_.now, frame, desk_.out)) {
        desk_.out.emplace_back(Reading{.name = "round_trip_s",
                                       .value = static_cast<double>(*trip) / 1e9,
                                       .agent_id = session.agent_id});
      }
      return;
    case wire::Message::LinkProbe:
      return receive_echo(session, *frame.message_as_LinkProbe(), event);
    case wire::Message::Telemetry:
      return receive_telemetry(session, *frame.message_as_Telemetry());
    case wire::Message::Leave:
      return lose(number, "left");
    default:
      if (JobRun* run = run_of(session)) run->receive(session, frame, event.payload);
  }
}

void Coordinator::Impl::answer(AgentSession& session, const wire::Frame& frame) {
  const std::optional<Conversation::Asked> asked = session.conversation.answered(frame);
  if (asked && asked->kind == wire::Message::Leave) session.leaving = true;  // it has hung up
  JobRun* const run = run_of(session);
  if (!asked || !run) return;
  if (const wire::Refusal* refusal = frame.message_as_Refusal()) {
    run->refused(session, *asked, *refusal);
  } else {
    run->answered(session, *asked);
  }
}

void Coordinator::Impl::lose(std::uint64_t number, std::string_view reason) {
  AgentSession* session = desk_.roster.by_session(number);
  if (!session) return;
  const bool leaves = reason == "left";
  desk_.note(leaves ? LogLevel::info : LogLevel::warning, "agent_gone", reason, session->agent_id,
             leaves ? "said goodbye" : "is taken for lost");
  session->leaving = true;
  desk_.record_agent(*session, false);
  if (JobRun* run = run_of(*session)) run->left(*session);
  desk_.out.emplace_back(ClosePeer{.peer = session->conversation.peer()});
  desk_.roster.remove(number);
}

void Coordinator::Impl::on(const PeerDisconnected& event) {
  for (const auto& [number, session] : desk_.roster.all()) {
    if (session->conversation.peer() == event.peer) return lose(number, "disconnected");
  }
}

// Looks after every session: what is to be sent again, who is to hear that we are here, who is
// lost.
void Coordinator::Impl::scan() {
  if (desk_.now < scan_at_ns_ || desk_.roster.size() == 0) return;
  scan_at_ns_ = desk_.now + std::max<TimeNs>(desk_.config.ack_timeout_ms * kNsPerMs / 4, kNsPerMs);
  std::vector<std::pair<std::uint64_t, std::string_view>> lost;
  for (const auto& [number, session] : desk_.roster.all()) {
    Conversation& talk = session->conversation;
    talk.acknowledge_bulk(desk_.now, desk_.out);
    if (talk.heartbeat_due(desk_.now)) {
      const JobRun* const run = run_of(*session);
      talk.heartbeat(desk_.now, wire::Activity::waiting, run ? run->current_round() : RoundKey{},
                     desk_.out);
    }
    if (talk.silent(desk_.now)) {
      lost.emplace_back(number, "silent");
    } else if (talk.failed()) {
      lost.emplace_back(number, "no_answer");
    }
  }
  for (const auto& [number, reason] : lost) lose(number, reason);
}

// --- all events --------------------------------------------------------------------------------

Actions Coordinator::Impl::handle(TimeNs now, const Event& event) {
  desk_.now = std::max(desk_.now, now);
  desk_.out.clear();
  std::visit([this](const auto& one) { on(one); }, event);
  scan();
  for (const auto& run : runs_) run->tick();
  share_out_agents();
  desk_.store.pump(desk_.now, desk_.out);
  return std::exchange(desk_.out, {});
}

TimeNs Coordinator::Impl::next_wakeup_ns() const {
  TimeNs due = desk_.store.next_due_ns();
  if (desk_.roster.size() > 0) due = std::min(due, scan_at_ns_);
  for (const auto& run : runs_) due = std::min(due, run->next_due_ns());
  return due;
}

}  // namespace tributary
