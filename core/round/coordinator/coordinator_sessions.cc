#include "core/round/coordinator/coordinator_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "schemas/limits.h"

namespace tributary {
namespace {

ConversationTimes times_of(const CoordinatorConfig& config) {
  return {.heartbeat_interval_ns = config.heartbeat_interval_ms * kNsPerMs,
          .heartbeat_timeout_ns = config.heartbeat_timeout_ms * kNsPerMs,
          .ack_timeout_ns = config.ack_timeout_ms * kNsPerMs,
          .retries_max = config.retries_max};
}

bool has_feature(const wire::Capabilities* capabilities, std::string_view name) {
  if (!capabilities || !capabilities->features()) return false;
  return std::ranges::any_of(*capabilities->features(), [name](const flatbuffers::String* feature) {
    return feature->string_view() == name;
  });
}

bool sums_in_network(const wire::Capabilities* capabilities) {
  if (!capabilities || !capabilities->collectives()) return false;
  return std::ranges::any_of(*capabilities->collectives(), [](const auto collective) {
    return static_cast<wire::Collective>(collective) == wire::Collective::in_network;
  });
}

}  // namespace

// A session is bound to its connection. A frame with a valid session number on another connection
// is refused, so a session cannot be taken over by guessing its number.
AgentSession* CoordinatorSessions::find(const FrameReceived& event, const wire::Frame& frame) {
  AgentSession* const session = context_.roster.by_session(frame.session());
  if (session && session->conversation.peer() == event.peer) return session;
  refuse(event, frame, wire::RefusalCode::wrong_session,
         {.what = "session",
          .expected = "a session of this coordinator, on its own connection",
          .got = "another",
          .remedy = "begin with Hello"},
         {});
  return nullptr;
}

std::string CoordinatorSessions::source_of(const FrameReceived& event) const {
  if (!event.authenticated_as.empty()) return std::string(event.authenticated_as);
  return fmt::format("peer {}", event.peer);
}

void CoordinatorSessions::refuse_unreadable(const FrameReceived& event, std::string_view reason,
                                            std::string text) {
  context_.note(LogLevel::warning, "frame_refused", reason, source_of(event), std::move(text));
}

void CoordinatorSessions::refuse(const FrameReceived& event, const wire::Frame& frame,
                                 wire::RefusalCode code, Fault fault,
                                 const RefusalOptions& options) {
  context_.note(LogLevel::warning, "frame_refused", wire::EnumNameRefusalCode(code),
                source_of(event),
                fmt::format("{}: expected {}, got {}", fault.what, fault.expected, fault.got));
  // Refusals of refusals would never end.
  if (frame.message_type() == wire::Message::Refusal) return;
  wire::RefusalT refusal = refusal_of(code, std::move(fault));
  refusal.closes = options.closes;
  refusal.retry_after_ms = options.retry_after_ms;
  wire::FrameT answer = frame_with(std::move(refusal));
  answer.session = frame.session();
  answer.in_reply_to = frame.message_id();
  answer.sent_at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(context_.now, 0));
  Result<Bytes> bytes = build_frame(answer);
  if (bytes.ok()) context_.out.emplace_back(Send{.peer = event.peer, .frame = std::move(*bytes)});
}

// --- hello -------------------------------------------------------------------------------------

// Checks that do not depend on other agents. The last one is temporary, so its refusal names a time
// to retry; the others are final.
bool CoordinatorSessions::may_come_in(const FrameReceived& event, const wire::Frame& frame,
                                      const wire::Hello& hello) {
  const Result<std::uint32_t> version =
      agree_on_version({}, {.min = hello.version_min(), .max = hello.version_max()});
  if (!version.ok()) {
    refuse(event, frame, wire::RefusalCode::version, version.status().fault(), {});
    return false;
  }
  const bool aggregator = hello.role() == wire::Role::aggregator;
  if (hello.role() != wire::Role::agent && !aggregator) {
    refuse(event, frame, wire::RefusalCode::unsupported,
           {.what = "role", .expected = "agent or aggregator", .got = "another", .remedy = {}}, {});
    return false;
  }
  if (aggregator &&
      (hello.slot_count() == 0 || !hello.endpoints() || hello.endpoints()->size() == 0)) {
    refuse(event, frame, wire::RefusalCode::malformed,
           {.what = "aggregator in the network",
            .expected = "an address for packets, and slots",
            .got = "none",
            .remedy = "set 'switch.listen'"},
           {});
    return false;
  }
  if (!event.authenticated_as.empty() &&
      event.authenticated_as != hello.agent_id()->string_view()) {
    refuse(event, frame, wire::RefusalCode::not_allowed,
           {.what = "agent id",
            .expected = std::string(event.authenticated_as),
            .got = hello.agent_id()->str(),
            .remedy = "use the id that the key was allowed for"},
           {});
    return false;
  }
  if (shutting_down_ || context_.roster.size() >= context_.config.agents_max) {
    refuse(event, frame,
           shutting_down_ ? wire::RefusalCode::shutting_down : wire::RefusalCode::busy,
           {.what = "coordinator",
            .expected = "a free place for another agent",
            .got = "none",
            .remedy = "try again later"},
           {.closes = false, .retry_after_ms = context_.config.heartbeat_timeout_ms});
    return false;
  }
  return true;
}

void CoordinatorSessions::hello(const FrameReceived& event, const wire::Frame& frame) {
  const wire::Hello& hello = *frame.message_as_Hello();
  if (!may_come_in(event, frame, hello)) return;
  AgentSession* known = context_.roster.by_agent(hello.agent_id()->str());
  if (!known) return welcome(event, frame, hello, 0);
  // The same process again: either a repeat of its Hello over the same connection, or a new
  // connection that continues the session.
  if (known->incarnation == hello.incarnation()) {
    if (known->conversation.peer() == event.peer && known->hello_id == frame.message_id()) {
      return send_welcome(*known, frame.message_id());
    }
    return welcome(event, frame, hello, known->conversation.session());
  }
  // Another process uses the same agent id. It replaces the known one only if that does not answer
  // a heartbeat in time.
  const TimeNs patience = 2 * known->conversation.times().ack_timeout_ns;
  if (known->challenged_at_ns != 0 && context_.now >= known->challenged_at_ns + patience &&
      known->conversation.last_arrival_ns() <= known->challenged_at_ns) {
    lose(known->conversation.session(), "replaced");
    return welcome(event, frame, hello, 0);
  }
  // Challenge the known process once, and again if it has answered since.
  if (known->challenged_at_ns == 0 ||
      known->conversation.last_arrival_ns() > known->challenged_at_ns) {
    known->challenged_at_ns = context_.now;
    known->conversation.heartbeat(context_.now, wire::Activity::waiting, {}, context_.out);
  }
  refuse(event, frame, wire::RefusalCode::duplicate_agent,
         {.what = "agent id",
          .expected = "an id that no other process uses",
          .got = known->agent_id,
          .remedy = "stop the other process, or give this agent another id"},
         {.closes = false, .retry_after_ms = 2 * context_.config.ack_timeout_ms + 1});
}

// `before` is the session that this one continues; 0 if none. The membership and a running attempt
// follow the agent from the old session to the new one (JobRun::joined).
void CoordinatorSessions::welcome(const FrameReceived& event, const wire::Frame& frame,
                                  const wire::Hello& hello, std::uint64_t before) {
  if (before != 0) {
    AgentSession* old = context_.roster.by_session(before);
    // An agent has one connection, so the old one is closed.
    if (old && old->conversation.peer() != event.peer) {
      context_.out.emplace_back(ClosePeer{.peer = old->conversation.peer()});
    }
    if (JobRun* const worked_for = old ? jobs_.run_of(*old) : nullptr) worked_for->count(*old);
    if (old && old->is_aggregator()) {
      old->leaving = true;
      jobs_.aggregator_changed(*old);
    }
    context_.roster.remove(before);
  }
  auto made = std::make_unique<AgentSession>(
      hello.agent_id()->str(), hello.incarnation(),
      Conversation(event.peer, context_.draw(), times_of(context_.config), context_.now));
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
  made->decodes_standalone = has_feature(hello.capabilities(), wire::kStandaloneFeature);
  made->divides_results = has_feature(hello.capabilities(), wire::kSegmentsFeature);
  made->sums_in_network = sums_in_network(hello.capabilities());
  made->sizes_packets = has_feature(hello.capabilities(), wire::kPacketValuesFeature);
  if (hello.role() == wire::Role::aggregator) {
    made->aggregator_slots = hello.slot_count();
    made->packet_values = hello.packet_values();
  }
  for (std::uint32_t i = 0; hello.holdings() && i < hello.holdings()->size(); ++i) {
    hello.holdings()->Get(i)->UnPackTo(&made->holdings.emplace_back());
  }
  AgentSession& session = context_.roster.add(std::move(made));
  session.conversation.bulk().window().set_limits(
      {.part_bytes_max = part_bytes_max(context_.config)});
  session.conversation.bulk().share(context_.outgoing.join(session.conversation.session()));
  JobRun* const run = jobs_.choose_run(session);
  if (run) session.run = run->record().job;
  send_welcome(session, frame.message_id());
  if (session.is_aggregator()) {
    context_.note(LogLevel::info, "aggregator_connected", "hello", session.agent_id,
                  fmt::format("at {}, {} slots", session.endpoint, session.aggregator_slots));
    return jobs_.aggregator_changed(session);
  }
  context_.record_agent(session, true);
  if (hello.capabilities()) links_.report_speeds(session, hello.capabilities()->codecs());
  if (run) run->joined(session, before);
}

void CoordinatorSessions::send_welcome(AgentSession& session, std::uint64_t hello_id) {
  const CoordinatorConfig& config = context_.config;
  wire::WelcomeT welcome;
  welcome.version = wire::kProtocolVersionMax;
  welcome.federation = config.federation;
  welcome.heartbeat_interval_ms = config.heartbeat_interval_ms;
  welcome.heartbeat_timeout_ms = config.heartbeat_timeout_ms;
  welcome.ack_timeout_ms = config.ack_timeout_ms;
  welcome.retries_max = config.retries_max;
  welcome.limits = std::make_unique<wire::LimitsT>();
  welcome.limits->frame_bytes_max = wire::kFrameBytesMax;
  welcome.limits->payload_bytes_max = config.payload_bytes_max;
  const JobRun* const run = jobs_.run_of(session);
  welcome.limits->payloads_in_flight_max = run ? run->budget().window() : 1;
  if (run) welcome.standings.push_back(std::make_unique<wire::StandingT>(run->standing(session)));
  session.conversation.send(context_.now, frame_with(std::move(welcome)), context_.out, hello_id);
}

// --- the end of a session ----------------------------------------------------------------------

void CoordinatorSessions::bytes_arrived(PeerId peer) {
  for (const auto& [number, session] : context_.roster.all()) {
    if (session->conversation.peer() == peer) session->conversation.bytes_arrived(context_.now);
  }
}

void CoordinatorSessions::disconnected(PeerId peer) {
  for (const auto& [number, session] : context_.roster.all()) {
    if (session->conversation.peer() == peer) return lose(number, "disconnected");
  }
}

void CoordinatorSessions::lose(std::uint64_t number, std::string_view reason) {
  AgentSession* session = context_.roster.by_session(number);
  if (!session) return;
  const bool leaves = reason == "left";
  context_.note(leaves ? LogLevel::info : LogLevel::warning, "agent_gone", reason,
                session->agent_id, leaves ? "ended its session" : "counts as lost");
  // Objects that the calls below reach must not wait for this agent, nor send it anything.
  session->leaving = true;
  if (session->is_aggregator()) {
    jobs_.aggregator_changed(*session);
  } else {
    context_.record_agent(*session, false);
  }
  if (JobRun* run = jobs_.run_of(*session)) run->left(*session);
  context_.out.emplace_back(ClosePeer{.peer = session->conversation.peer()});
  context_.roster.remove(number);
}

void CoordinatorSessions::scan() {
  if (context_.now < scan_at_ns_ || context_.roster.size() == 0) return;
  scan_at_ns_ =
      // A walk over thousands of sessions on every event would dominate the machine's time, so
      // sessions are inspected four times per acknowledgement timeout.
      context_.now + std::max<TimeNs>(context_.config.ack_timeout_ms * kNsPerMs / 4, kNsPerMs);
  std::vector<std::pair<std::uint64_t, std::string_view>> lost;
  for (const auto& [number, session] : context_.roster.all()) {
    Conversation& conversation = session->conversation;
    conversation.acknowledge_bulk(context_.now, context_.out);
    if (conversation.heartbeat_due(context_.now)) {
      const JobRun* const run = jobs_.run_of(*session);
      conversation.heartbeat(context_.now, wire::Activity::waiting,
                             run ? run->current_round() : RoundKey{}, context_.out);
    }
    const std::string_view trouble = conversation.trouble(context_.now);
    if (!trouble.empty()) lost.emplace_back(number, trouble);
  }
  // After the loop, because lose() removes entries of the map that the loop walks.
  for (const auto& [number, reason] : lost) lose(number, reason);
}

void CoordinatorSessions::send_waiting() {
  while (const std::optional<std::uint64_t> number = context_.outgoing.next(context_.now)) {
    if (AgentSession* const session = context_.roster.by_session(*number)) {
      session->conversation.pump(context_.now, context_.out);
    }
  }
}

void CoordinatorSessions::shut_down(const std::string& reason) {
  shutting_down_ = true;
  for (const auto& [number, session] : context_.roster.all()) {
    session->conversation.ask(
        context_.now,
        [reason] {
          wire::LeaveT leave;
          leave.reason = wire::LeaveReason::shutdown;
          leave.text = reason.substr(0, wire::kTextBytesMax);
          return frame_with(std::move(leave));
        },
        context_.out);
  }
}

}  // namespace tributary
