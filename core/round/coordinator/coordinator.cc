#include "core/round/coordinator/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/bytes/checksum.h"
#include "core/base/overloaded.h"
#include "core/round/coordinator/context/coordinator_context.h"
#include "core/round/coordinator/context/link_reports.h"
#include "core/round/coordinator/coordinator_sessions.h"
#include "core/round/coordinator/job/job_table.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

// The kinds of messages that an agent may send within a session.
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

// The same for an aggregator in the network.
bool from_aggregators(wire::Message kind) {
  switch (kind) {
    case wire::Message::Ack:
    case wire::Message::Refusal:
    case wire::Message::Heartbeat:
    case wire::Message::EpochInstalled:
    case wire::Message::Leave:
      return true;
    default:
      return false;
  }
}

}  // namespace

// Dispatches events to the objects that own the state.
class Coordinator::Impl {
 public:
  explicit Impl(CoordinatorConfig config) : context(std::move(config)) {}

  Actions handle(TimeNs now, const Event& event);
  TimeNs next_wakeup_ns() const;

  CoordinatorContext context;
  JobTable jobs{context};

 private:
  void dispatch(const Event& event);
  void receive(const FrameReceived& event);
  void in_session(AgentSession& session, const wire::Frame& frame, const FrameReceived& event);
  void answer(AgentSession& session, const wire::Frame& frame);

  LinkReports links_{context};
  CoordinatorSessions sessions_{context, jobs, links_};
  Bytes aligned_;
};

// --- frames ------------------------------------------------------------------------------------

void Coordinator::Impl::receive(const FrameReceived& event) {
  const Result<const wire::Frame*> opened = open_frame(event.frame, aligned_);
  if (!opened.ok()) {
    const Status status = opened.status();
    return sessions_.refuse_unreadable(event, name(status.code()), status.text());
  }
  const wire::Frame& frame = **opened;
  if (wire::rules_of(frame.message_type()).has(wire::kHasPayload)) {
    if (Status status = check_payload(frame, event.payload); !status.ok()) {
      return sessions_.refuse_unreadable(event, "bad_checksum", status.text());
    }
  }
  // A Hello belongs to no session yet, so its session number is not checked.
  if (frame.message_type() == wire::Message::Hello) return sessions_.hello(event, frame);
  AgentSession* const session = sessions_.find(event, frame);
  if (!session) return;
  in_session(*session, frame, event);
  // Handling the message may have removed the session.
  if (AgentSession* const still = context.roster.by_session(frame.session())) {
    still->conversation.acknowledge_bulk(context.now, context.out);
  }
}

// Bytes are counted before any check: a refused message has crossed the link too.
void Coordinator::Impl::in_session(AgentSession& session, const wire::Frame& frame,
                                   const FrameReceived& event) {
  const wire::Message kind = frame.message_type();
  session.received.add(kind, event.frame.size() + event.payload.size());
  if (kind != wire::Message::LinkProbe) session.payload_bytes_in += event.payload.size();
  const bool aggregator = session.is_aggregator();
  if (!(aggregator ? from_aggregators(kind) : from_agents(kind))) {
    return context.refuse(session, "not_allowed",
                          fmt::format("{} from an {}", wire::EnumNameMessage(kind),
                                      aggregator ? "aggregator" : "agent"));
  }
  switch (session.conversation.arrived(context.now, frame, context.out)) {
    case Conversation::Arrival::repeat:
      return;
    case Conversation::Arrival::refused:
      return context.refuse(session, "replayed", "a message id that is out of order");
    case Conversation::Arrival::fresh:
      break;
  }
  // The coordinator acknowledges a message when it arrives, not when its effect is stored. Nothing
  // is lost by that: an agent keeps a contribution until a commit or an abort decides it.
  const std::uint64_t number = session.conversation.session();
  if (frame.message_id() != 0) {
    session.conversation.acknowledge(context.now, frame.message_id(), context.out);
  }
  switch (kind) {
    case wire::Message::Ack:
    case wire::Message::Refusal:
      return answer(session, frame);
    case wire::Message::Heartbeat:
      if (const auto trip =
              session.conversation.receive_heartbeat(context.now, frame, context.out)) {
        context.out.emplace_back(Reading{.kind = ReadingKind::round_trip_s,
                                         .value = static_cast<double>(*trip) / 1e9,
                                         .agent_id = session.agent_id});
      }
      return;
    case wire::Message::LinkProbe:
      return links_.receive_echo(session, *frame.message_as_LinkProbe(), event);
    case wire::Message::Telemetry:
      return links_.receive_telemetry(session, *frame.message_as_Telemetry());
    case wire::Message::Leave:
      return sessions_.lose(number, "left");
    case wire::Message::EpochInstalled:
      if (JobRun* run = jobs.run(frame.message_as_EpochInstalled()->job())) {
        run->aggregator_changed(session, frame.message_as_EpochInstalled());
      }
      return;
    default:
      if (JobRun* run = jobs.run_of(session)) run->receive(session, frame, event.payload);
  }
}

void Coordinator::Impl::answer(AgentSession& session, const wire::Frame& frame) {
  const std::optional<Conversation::Asked> asked = session.conversation.answered(frame);
  if (asked && asked->kind == wire::Message::Leave) session.leaving = true;  // it has hung up
  JobRun* const run = jobs.run_of(session);
  if (!asked || !run) return;
  if (const wire::Refusal* refusal = frame.message_as_Refusal()) {
    run->refused(session, *asked, *refusal);
  } else {
    run->answered(session, *asked);
  }
}

// --- events ------------------------------------------------------------------------------------

void Coordinator::Impl::dispatch(const Event& event) {
  const Overloaded handlers{
      [this](const FrameReceived& frame) { receive(frame); },
      [](const PeerConnected&) {},
      [this](const PeerDisconnected& lost) { sessions_.disconnected(lost.peer); },
      [this](const PeerAlive& peer) { sessions_.bytes_arrived(peer.peer); },
      [](const Tick&) {},
      [this](const Stored& stored) { context.store.stored(context.now, stored, context.out); },
      [this](const ProbeLink& probe) { links_.probe(probe); },
      [this](const RoundLoaded& loaded) { jobs.loaded(loaded); },
      [this](const SubmitJob& submission) { jobs.submit(submission); },
      [this](const ChangeJob& change) { jobs.change(change); },
      [this](const PlanAdvised& advised) {
        if (JobRun* const run = jobs.run(advised.job)) run->advise(advised.advice);
      },
      [this](const Shutdown& shutdown) { sessions_.shut_down(shutdown.reason); },
      [this, &event](const auto&) {
        context.note(LogLevel::warning, "event_ignored", name_of(event), {},
                     "not an event of a coordinator");
      }};
  std::visit(handlers, event);
}

Actions Coordinator::Impl::handle(TimeNs now, const Event& event) {
  // The time of the machine never goes backwards, even if the host's does.
  context.now = std::max(context.now, now);
  context.out.clear();
  dispatch(event);
  // Sessions first, so that jobs no longer wait for agents that are lost; records last, because the
  // steps before may add some.
  sessions_.scan();
  jobs.tick();
  sessions_.send_waiting();
  context.store.pump(context.now, context.out);
  return std::exchange(context.out, {});
}

TimeNs Coordinator::Impl::next_wakeup_ns() const {
  return std::min({context.store.next_due_ns(), sessions_.next_due_ns(), jobs.next_due_ns(),
                   context.outgoing.next_due_ns()});
}

// --- the coordinator ---------------------------------------------------------------------------

Coordinator::Coordinator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Coordinator::~Coordinator() = default;

Result<std::unique_ptr<Coordinator>> Coordinator::make(CoordinatorConfig config,
                                                       CoordinatorState state) {
  auto impl = std::make_unique<Impl>(std::move(config));
  TRIBUTARY_TRY(impl->jobs.restore(std::move(state)));
  return std::unique_ptr<Coordinator>(new Coordinator(std::move(impl)));
}

Actions Coordinator::handle(TimeNs now, const Event& event) { return impl_->handle(now, event); }
TimeNs Coordinator::next_wakeup_ns() const { return impl_->next_wakeup_ns(); }

// True if a shutdown loses nothing: every record is stored, and every agent that is still there has
// answered.
bool Coordinator::idle() const {
  const bool asked = std::ranges::any_of(impl_->context.roster.all(), [](const auto& item) {
    return !item.second->leaving && item.second->conversation.unanswered() > 0;
  });
  return !asked && impl_->context.store.empty();
}

std::vector<Coordinator::AgentView> Coordinator::agents() const {
  std::vector<AgentView> views;
  for (const auto& [number, session] : impl_->context.roster.all()) {
    if (session->is_aggregator()) continue;
    views.push_back({.agent_id = session->agent_id,
                     .incarnation = session->incarnation,
                     .ready = impl_->jobs.ready(*session),
                     .job = session->run,
                     .model_version = session->version,
                     .last_arrival_ns = session->conversation.last_arrival_ns(),
                     .payload_bytes = session->payload_bytes_in +
                                      session->conversation.payload_bytes_out() -
                                      session->padding_bytes_out});
  }
  std::ranges::sort(views, {}, &AgentView::agent_id);
  return views;
}

std::vector<Coordinator::JobView> Coordinator::jobs() const { return impl_->jobs.views(); }

RoundKey Coordinator::current_round() const {
  const JobRun* run = impl_->jobs.run_at_work();
  return run ? run->current_round() : RoundKey{};
}
std::uint64_t Coordinator::model_version() const {
  const JobRun* run = impl_->jobs.run_at_work();
  return run ? run->committed().version() : 0;
}
std::uint64_t Coordinator::model_hash() const {
  const JobRun* run = impl_->jobs.run_at_work();
  return run ? run->committed().hash() : 0;
}
SharedFloats Coordinator::model() const {
  const JobRun* run = impl_->jobs.run_at_work();
  return run ? run->committed().state().values : nullptr;
}
SharedFloats Coordinator::aggregator_residual() const {
  const JobRun* run = impl_->jobs.run_at_work();
  return run ? run->committed().aggregator_residual() : nullptr;
}

SharedFloats Coordinator::model_of(std::uint64_t job) const {
  const JobRun* run = impl_->jobs.run(job);
  return run ? run->committed().state().values : nullptr;
}
SharedBytes Coordinator::definition_of(std::uint64_t job) const {
  const JobRun* run = impl_->jobs.run(job);
  return run ? run->record().definition : nullptr;
}

std::uint64_t Coordinator::incoming_bytes() const { return impl_->jobs.incoming_bytes(); }
std::uint64_t Coordinator::outgoing_bytes() const {
  return impl_->context.outgoing.bytes_under_way();
}
std::uint64_t Coordinator::buffered_bytes() const { return impl_->jobs.buffered_bytes(); }

// Compared between two simulations of one seed. It contains only values that a run determines, such
// as versions and hashes, and no session numbers or times.
std::uint64_t Coordinator::state_hash() const {
  Checksum checksum;
  const auto add = [&](const auto& value) {
    checksum.update({reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
  };
  for (const AgentView& view : agents()) {
    checksum.update(bytes_of(view.agent_id));
    add(view.incarnation);
    add(view.model_version);
    add(view.ready);
  }
  const RoundKey round = current_round();
  add(round.round);
  add(round.epoch);
  add(round.attempt);
  add(model_version());
  const std::uint64_t hash = model_hash();
  add(hash);
  if (const SharedFloats residual = aggregator_residual()) {
    checksum.update(bytes_of(std::span<const float>(*residual)));
  }
  return checksum.finish64();
}

}  // namespace tributary
