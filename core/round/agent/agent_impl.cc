#include "core/round/agent/agent_impl.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/overloaded.h"

namespace tributary {

// --- start -------------------------------------------------------------------------------------

// The order follows from the dependencies: the job determines the sizes that the replica, the
// residual and a download are checked against.
Status Agent::Impl::restore(AgentState state) {
  if (!state.job) return {};
  TRIBUTARY_TRY(replica_.restore(*state.job));
  transfer_.restore(state.download);
  // The journal may still have the replica of an earlier job.
  if (!state.replica || !replica_.owns(*state.replica)) {
    updates_.begin_job(replica_.job()->values());
    return {};
  }
  TRIBUTARY_TRY(updates_.restore(*replica_.job(), *state.replica, std::move(state.undecided)));
  return replica_.restore(*state.replica);
}

// --- events ------------------------------------------------------------------------------------

Actions Agent::Impl::handle(TimeNs now, Event& event) {
  // Time never runs backwards inside the machine, even if the caller's clock does.
  context_.now = std::max(context_.now, now);
  if (connection_.finished()) return {};
  pass(event);
  // The order matters: the connection may end the session, an update may complete the round, and a
  // new round may need data. Records are handed out last, because every step before may add some.
  maintain_connection();
  participation_.take_kept_update();
  rounds_.begin_next();
  participation_.go_on(std::holds_alternative<Tick>(event));
  rounds_.ask_for_missing();
  transfer_.ask_for_rest();
  rounds_.replace_overdue_commit();
  if (Conversation* conversation = session_.conversation()) {
    conversation->acknowledge_bulk(context_.now, context_.out.all());
  }
  context_.store.pump(context_.now, context_.out.all());
  if (connection_.shutting_down() && context_.store.empty() && session_.idle()) {
    connection_.finish(Status());
  }
  return context_.out.take();
}

void Agent::Impl::pass(Event& event) {
  std::visit(Overloaded{
                 [this](const FrameReceived& frame) { receive(frame); },
                 [this](const PeerConnected&) { connection_.connected(); },
                 [this](const PeerDisconnected&) { follow(connection_.disconnected()); },
                 [this](const PeerAlive&) { session_.bytes_arrived(); },
                 [this](const Tick&) {
                   if (trying_codecs()) participation_.try_codecs(codecs_);
                 },
                 [this](const Stored& stored) {
                   context_.store.stored(context_.now, stored, context_.out.all());
                 },
                 [this](const UpdatePart& part) { participation_.take_part(part); },
                 [this](UpdateReady& update) { participation_.take(update); },
                 [this](const UpdateFailed& failure) { participation_.failed(failure); },
                 [this](const BackgroundDone& done) { participation_.contribution().take(done); },
                 [this](const PeerFrameReceived& frame) { participation_.receive(frame); },
                 [this](const PeerLost& lost) { participation_.lost(lost); },
                 [this](const NetworkSummed& summed) { participation_.take(summed); },
                 [this](const ReportLinks& links) { telemetry_.send_links(links); },
                 [this](const ReportSpeeds& speeds) { telemetry_.take_speeds(speeds); },
                 [this](const Shutdown& shutdown) {
                   store_replica();
                   connection_.shut_down(shutdown.reason);
                 },
                 [this, &event](const auto&) {
                   context_.out.note(LogLevel::warning, "event_ignored", name_of(event),
                                     "not an event of an agent");
                 },
             },
             event);
}

// `aligned` holds a copy of the frame if the transport's buffer is not aligned for FlatBuffers. The
// frame that the connection returns points into it, so it lives until the end of this function.
void Agent::Impl::receive(const FrameReceived& event) {
  Bytes aligned;
  const AgentConnection::Received received = connection_.receive(event, aligned);
  if (received.change == AgentConnection::Change::session_opened) {
    telemetry_.send_speeds();
    const wire::Welcome& welcome = *received.frame->message_as_Welcome();
    rounds_.session_opened(welcome.limits()->payloads_in_flight_max());
  } else if (received.frame) {
    dispatch(*received.frame, event);
  } else {
    follow(received.change);
  }
}

// Most messages are answered at once. A Job and a TransferOffer are answered after their record is
// stored, so their answer means that a restart does not lose them.
void Agent::Impl::dispatch(const wire::Frame& frame, const FrameReceived& event) {
  const std::uint64_t id = frame.message_id();
  const ByteSpan payload = event.payload;
  switch (frame.message_type()) {
    case wire::Message::Job:
      return receive_job(*frame.message_as_Job(), id);
    case wire::Message::JobChange:
      session_.answer(id);
      if (replica_.change(*frame.message_as_JobChange())) store_replica();
      return;
    case wire::Message::Membership:
      session_.answer(id);
      return peers_.join(*frame.message_as_Membership());
    case wire::Message::Plan:
      return rounds_.receive(*frame.message_as_Plan(), id);
    case wire::Message::Aggregate:
      return rounds_.receive(*frame.message_as_Aggregate(), payload);
    case wire::Message::Receipt:
      return participation_.upload().receive(*frame.message_as_Receipt());
    case wire::Message::Commit:
      session_.answer(id);
      return rounds_.receive(*frame.message_as_Commit());
    case wire::Message::Abort:
      session_.answer(id);
      return rounds_.receive(*frame.message_as_Abort());
    case wire::Message::TransferOffer:
      if (transfer_.receive(*frame.message_as_TransferOffer(), id)) finish_download();
      return;
    case wire::Message::TransferPart:
      if (transfer_.receive(*frame.message_as_TransferPart(), payload)) finish_download();
      return;
    case wire::Message::Leave:
      session_.answer(id);
      return follow(
          connection_.hang_up("coordinator_left", context_.config.hello_timeout_ms * kNsPerMs));
    case wire::Message::LinkProbe:
      return telemetry_.echo(*frame.message_as_LinkProbe(), event.waited_for);
    default:
      context_.out.refuse_frame("not_allowed", wire::EnumNameMessage(frame.message_type()));
  }
}

// --- connection --------------------------------------------------------------------------------

void Agent::Impl::follow(AgentConnection::Change change) {
  if (change != AgentConnection::Change::session_lost) return;
  transfer_.session_lost();
  rounds_.session_lost();
}

// Sends at most one kind of message: a Hello while there is no session, otherwise heartbeats.
void Agent::Impl::maintain_connection() {
  if (connection_.hello_due()) {
    return connection_.send_hello(telemetry_.capabilities_to_send(), holding());
  }
  const AgentRound* round = rounds_.current();
  const RoundKey key = round ? round->key() : RoundKey{.job = replica_.job_id()};
  follow(connection_.maintain_session(activity(), key));
}

// The schema caps the list of undecided rounds, so only the oldest are named.
std::unique_ptr<wire::HoldingT> Agent::Impl::holding() const {
  std::unique_ptr<wire::HoldingT> holding = replica_.holding();
  if (!holding) return holding;
  holding->epoch = peers_.epoch();
  transfer_.describe(*holding);
  for (const UndecidedRound& round : updates_.residual().undecided()) {
    if (holding->undecided.size() < wire::kRoundsPerCommitMax) {
      holding->undecided.push_back(wire_id(round.id));
    }
  }
  return holding;
}

// The activity that heartbeats report. Only one is reported: training before a transfer, a transfer
// before waiting for a round.
wire::Activity Agent::Impl::activity() const {
  if (participation_.training().running()) return wire::Activity::training;
  if (transfer_.transferring()) return wire::Activity::transferring;
  return rounds_.current() ? wire::Activity::waiting : wire::Activity::idle;
}

// --- job and model -----------------------------------------------------------------------------

void Agent::Impl::receive_job(const wire::Job& job, std::uint64_t message_id) {
  const Result<bool> another = replica_.take(job);
  if (!another.ok()) {
    return session_.refuse(message_id, wire::RefusalCode::unsupported, another.status());
  }
  // Everything that belongs to the old job's model is dropped before the record of the new job is
  // stored, the residual and the undecided rounds included.
  if (*another) {
    peers_.leave();
    rounds_.begin_job();
    transfer_.drop_download();
    updates_.begin_job(replica_.job()->values());
  }
  session_.answer_later(message_id);
  replica_.store_job(
      [this, message_id, session = session_.id()] { session_.answer_in(session, message_id); });
}

// The last record of a process or of a job: it leaves nothing to catch up with, and no update that
// is only in memory.
void Agent::Impl::store_replica() {
  participation_.contribution().finish_encoding();
  if (!replica_.model() || replica_.recorded(updates_.residual())) return;
  transfer_.replica_stored();
  context_.store.push(
      replica_.record(peers_.epoch(), updates_.residual(), Replica::Checkpoint::now), {});
}

// Settles undecided rounds before the model changes: a settlement names buckets of the old rounds,
// and after it the residual belongs to the new version.
Status Agent::Impl::adopt(const ModelDownload& download) {
  participation_.contribution().finish_encoding();
  TRIBUTARY_ASSIGN(Replica::Downloaded downloaded, replica_.read(download));
  TRIBUTARY_TRY(updates_.settle_by(*download.offer()));
  TRIBUTARY_TRY(replica_.adopt(std::move(downloaded)));
  updates_.residual().belongs_to(replica_.version());
  return {};
}

void Agent::Impl::finish_download() {
  const std::unique_ptr<const ModelDownload> download = transfer_.release();
  const std::uint64_t offer_id = download->message_id();
  const std::uint64_t before = replica_.version();
  if (const Status status = adopt(*download); !status.ok()) {
    session_.refuse(offer_id, wire::RefusalCode::mismatch, status);
    // The next Hello names all rounds whose outcome is unknown, so the next offer contains them.
    if (status.code() == StatusCode::not_found) return follow(connection_.hang_up("undecided", 0));
    return transfer_.request(wire::TransferReason::lost);
  }
  rounds_.model_replaced(before);
  context_.store.push(
      replica_.record(peers_.epoch(), updates_.residual(), Replica::Checkpoint::now),
      [this, offer_id, session = session_.id()] { session_.answer_in(session, offer_id); });
  rounds_.try_commit();
}

// --- time --------------------------------------------------------------------------------------

bool Agent::Impl::trying_codecs() const {
  return participation_.trying_codecs() && !connection_.shutting_down();
}

TimeNs Agent::Impl::next_wakeup_ns() const {
  if (connection_.finished()) return kNever;
  // Due at once: the work continues in steps, so that messages are handled in between.
  if (participation_.busy() || trying_codecs()) return context_.now;
  const TimeNs due = std::min(context_.store.next_due_ns(), connection_.next_due_ns());
  if (!session_.is_open()) return due;
  return std::min({due, transfer_.next_due_ns(), rounds_.next_due_ns()});
}

}  // namespace tributary
