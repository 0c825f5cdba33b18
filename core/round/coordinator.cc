#include "core/round/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "core/base/checksum.h"
#include "core/round/coordinator_desk.h"
#include "core/round/job_run.h"
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

class Coordinator::Impl {
 public:
  explicit Impl(CoordinatorConfig config) { desk_.config = std::move(config); }

  Status restore(CoordinatorState state);
  Actions handle(TimeNs now, const Event& event);
  TimeNs next_wakeup_ns() const;

  void on(const FrameReceived& event);
  void on(const PeerConnected&) {}
  void on(const PeerDisconnected& event);
  void on(const Tick&) {}
  void on(const Stored& event) { desk_.store.stored(desk_.now, event, desk_.out); }
  void on(const UpdateReady&) { not_for_us("update_ready"); }
  void on(const UpdateFailed&) { not_for_us("update_failed"); }
  void on(const RoundLoaded& event) {
    if (run_) run_->loaded(event);
  }
  void on(const SubmitJob& event);
  void on(const ChangeJob& event);
  void on(const Shutdown& event);

  CoordinatorDesk desk_;
  std::unique_ptr<JobRun> run_;
  std::deque<RestoredJob> waiting_;         // behind the one at work
  std::vector<Coordinator::JobView> done_;  // before it

 private:
  static constexpr std::size_t kJobsWaitingMax = 64;

  void not_for_us(std::string_view what) {
    desk_.note(LogLevel::warning, "event_ignored", what, {}, "not an event of a coordinator");
  }
  std::string source_of(const FrameReceived& event) const;
  void refuse_stranger(const FrameReceived& event, const wire::Frame& frame, wire::RefusalCode code,
                       std::string_view reason, Fault fault, bool closes,
                       std::uint32_t retry_after_ms = 0);

  void hello(const FrameReceived& event, const wire::Frame& frame);
  bool may_come_in(const FrameReceived& event, const wire::Frame& frame, const wire::Hello& hello);
  void welcome(const FrameReceived& event, const wire::Frame& frame, const wire::Hello& hello,
               std::uint64_t before);
  void send_welcome(AgentSession& session, std::uint64_t hello_id);
  void in_session(AgentSession& session, const wire::Frame& frame, ByteSpan payload);
  void answer(AgentSession& session, const wire::Frame& frame);
  void lose(std::uint64_t session, std::string_view reason);
  void scan();
  void record_agent(const AgentSession& session, bool connected);
  void run_next_job();
  Result<RestoredJob> new_job(const SubmitJob& event);

  TimeNs scan_at_ns_ = 0;
  bool shutting_down_ = false;
  bool finished_ = false;
  Bytes aligned_;
};

// --- restore
// ---------------------------------------------------------------------------------------

Status Coordinator::Impl::restore(CoordinatorState state) {
  for (RestoredJob& job : state.jobs) waiting_.push_back(std::move(job));
  if (waiting_.empty()) return {};
  // The first that is not over is at work; if all are, the last is, so that its model can be asked
  // for.
  while (waiting_.size() > 1 && (waiting_.front().job.state == wire::JobState::finished ||
                                 waiting_.front().job.state == wire::JobState::stopped)) {
    waiting_.pop_front();
  }
  TRIBUTARY_ASSIGN(run_, JobRun::make(desk_, std::move(waiting_.front())));
  waiting_.pop_front();
  return {};
}

// --- frames
// ----------------------------------------------------------------------------------------

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
  in_session(*session, frame, event.payload);
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

// --- hello
// -----------------------------------------------------------------------------------------

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
    desk_.roster.remove(before);
  }
  auto made = std::make_unique<AgentSession>(
      hello.agent_id()->str(), hello.incarnation(),
      Conversation(event.peer, desk_.draw(), times_of(desk_.config), desk_.now));
  made->hello_id = frame.message_id();
  if (hello.build()) made->build = hello.build()->str();
  if (hello.capabilities() && hello.capabilities()->device() &&
      hello.capabilities()->device()->model()) {
    made->device_model = hello.capabilities()->device()->model()->str();
  }
  for (std::uint32_t i = 0; hello.holdings() && i < hello.holdings()->size(); ++i) {
    hello.holdings()->Get(i)->UnPackTo(&made->holdings.emplace_back());
  }
  AgentSession& session = desk_.roster.add(std::move(made));
  send_welcome(session, frame.message_id());
  record_agent(session, true);
  if (run_) run_->joined(session, before);
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
  welcome.limits->payloads_in_flight_max = run_ ? run_->window() : 1;
  if (run_) welcome.standings.push_back(std::make_unique<wire::StandingT>(run_->standing(session)));
  session.conversation.send(desk_.now, frame_with(std::move(welcome)), desk_.out, hello_id);
}

void Coordinator::Impl::record_agent(const AgentSession& session, bool connected) {
  AgentRecord record{.agent_id = session.agent_id,
                     .incarnation = session.incarnation,
                     .build = session.build,
                     .device_model = session.device_model,
                     .connected = connected,
                     .job = session.job,
                     .model_version = session.version};
  if (CoordinatorRecord* tail = desk_.store.open_tail()) {
    if (auto* records = std::get_if<AgentRecords>(tail)) {
      const auto same = std::ranges::find(records->agents, record.agent_id, &AgentRecord::agent_id);
      if (same == records->agents.end()) {
        records->agents.push_back(std::move(record));
      } else {
        *same = std::move(record);
      }
      return;
    }
  }
  desk_.store.push(AgentRecords{.agents = {std::move(record)}});
}

// --- in a session
// ----------------------------------------------------------------------------------

void Coordinator::Impl::in_session(AgentSession& session, const wire::Frame& frame,
                                   ByteSpan payload) {
  const wire::Message kind = frame.message_type();
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
      return session.conversation.heard_heartbeat(desk_.now, frame);
    case wire::Message::LinkProbe:
    case wire::Message::Telemetry:
      return;
    case wire::Message::Leave:
      return lose(number, "left");
    default:
      if (run_) run_->receive(session, frame, payload);
  }
}

void Coordinator::Impl::answer(AgentSession& session, const wire::Frame& frame) {
  const std::optional<Conversation::Asked> asked = session.conversation.answered(frame);
  if (!asked || !run_) return;
  if (const wire::Refusal* refusal = frame.message_as_Refusal()) {
    run_->refused(session, *asked, *refusal);
  } else {
    run_->answered(session, *asked);
  }
}

void Coordinator::Impl::lose(std::uint64_t number, std::string_view reason) {
  AgentSession* session = desk_.roster.by_session(number);
  if (!session) return;
  const bool leaves = reason == "left";
  desk_.note(leaves ? LogLevel::info : LogLevel::warning, "agent_gone", reason, session->agent_id,
             leaves ? "said goodbye" : "is taken for lost");
  session->leaving = true;
  record_agent(*session, false);
  if (run_) run_->left(*session);
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
  const RoundKey round = run_ ? run_->current_round() : RoundKey{};
  for (const auto& [number, session] : desk_.roster.all()) {
    Conversation& talk = session->conversation;
    talk.retry(desk_.now, desk_.out);
    if (talk.heartbeat_due(desk_.now)) {
      talk.heartbeat(desk_.now, wire::Activity::waiting, round, desk_.out);
    }
    if (talk.silent(desk_.now)) {
      lost.emplace_back(number, "silent");
    } else if (talk.failed()) {
      lost.emplace_back(number, "no_answer");
    }
  }
  for (const auto& [number, reason] : lost) lose(number, reason);
}

// --- jobs
// ------------------------------------------------------------------------------------------

Result<RestoredJob> Coordinator::Impl::new_job(const SubmitJob& event) {
  TRIBUTARY_TRY(check(event.policy));
  RestoredJob job;
  wire::JobT definition = event.definition;
  if (definition.job == 0) definition.job = desk_.draw();
  if (definition.revision == 0) definition.revision = 1;
  definition.state = wire::JobState::running;
  TRIBUTARY_ASSIGN(job.job.definition, keep_message(definition));
  job.job.job = definition.job;
  job.job.revision = definition.revision;
  job.job.state = wire::JobState::running;
  job.job.policy = event.policy;
  TRIBUTARY_ASSIGN(const auto model, JobModel::make(job.job.definition));
  if (!event.model || event.model->size() != model->values()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "model of a job",
                   .expected = fmt::format("{} values, as in its layer map", model->values()),
                   .got = fmt::format("{}", event.model ? event.model->size() : 0),
                   .remedy = "submit the model that belongs to the layer map"});
  }
  TRIBUTARY_ASSIGN(const auto rule, make_model_rule(model->wire()));
  job.checkpoint = {.job = definition.job,
                    .model_version = 0,
                    .model_hash = model_hash_of(*event.model),
                    .model = event.model,
                    .rule_state = std::make_shared<const Bytes>(rule->save())};
  return job;
}

void Coordinator::Impl::on(const SubmitJob& event) {
  Result<RestoredJob> job = new_job(event);
  if (job.ok() && waiting_.size() >= kJobsWaitingMax) {
    job = Status(StatusCode::resource_exhausted, {.what = "jobs that wait",
                                                  .expected = fmt::format("{}", kJobsWaitingMax),
                                                  .got = "one more",
                                                  .remedy = "stop one"});
  }
  if (!job.ok()) {
    desk_.out.emplace_back(CommandDone{.command = event.command, .status = job.status()});
    return;
  }
  NewJobRecord record{.job = job->job, .checkpoint = job->checkpoint};
  desk_.store.push(std::move(record), [this, command = event.command, job = std::move(*job)] {
    desk_.out.emplace_back(CommandDone{.command = command, .status = {}, .job = job.job.job});
    waiting_.push_back(job);
    run_next_job();
  });
}

void Coordinator::Impl::run_next_job() {
  while (!waiting_.empty() && (!run_ || run_->over())) {
    Result<std::unique_ptr<JobRun>> run = JobRun::make(desk_, std::move(waiting_.front()));
    waiting_.pop_front();
    if (!run.ok()) {
      desk_.note(LogLevel::error, "job_failed", name(run.status().code()), {}, run.status().text());
      continue;
    }
    if (run_) {
      done_.push_back({.job = run_->record().job,
                       .name = run_->model_of_job().wire().name()->str(),
                       .state = run_->record().state,
                       .rounds = run_->model_of_job().wire().rounds(),
                       .rounds_committed = run_->version()});
      if (done_.size() > kJobsWaitingMax) done_.erase(done_.begin());
    }
    run_ = std::move(*run);
    for (const auto& [number, session] : desk_.roster.all()) {
      session->job = 0;
      session->synced = false;
      session->transfer = 0;
      session->transfer_wanted = false;
      session->commit_sent = 0;
      session->undecided.clear();
      session->holdings.clear();
      run_->joined(*session, 0);
    }
  }
}

void Coordinator::Impl::on(const ChangeJob& event) {
  const bool known = run_ && run_->record().job == event.job && !run_->over();
  const bool allowed = event.state == wire::JobState::running ||
                       event.state == wire::JobState::paused ||
                       event.state == wire::JobState::stopped;
  if (!known || !allowed) {
    desk_.out.emplace_back(
        CommandDone{.command = event.command,
                    .status = Status(known ? StatusCode::invalid_argument : StatusCode::not_found,
                                     {.what = fmt::format("job {}", event.job),
                                      .expected = "the job at work, to run, pause or stop",
                                      .got = wire::EnumNameJobState(event.state),
                                      .remedy = "list the jobs"}),
                    .job = event.job});
    return;
  }
  run_->change(event.state, event.reason, [this, command = event.command, job = event.job] {
    desk_.out.emplace_back(CommandDone{.command = command, .status = {}, .job = job});
  });
}

void Coordinator::Impl::on(const Shutdown& event) {
  shutting_down_ = true;
  for (const auto& [number, session] : desk_.roster.all()) {
    session->conversation.ask(
        desk_.now,
        [reason = event.reason] {
          wire::LeaveT leave;
          leave.reason = wire::LeaveReason::shutdown;
          leave.text = reason.substr(0, wire::kTextBytesMax);
          return frame_with(std::move(leave));
        },
        desk_.out);
  }
}

// --- all events
// ------------------------------------------------------------------------------------

Actions Coordinator::Impl::handle(TimeNs now, const Event& event) {
  desk_.now = std::max(desk_.now, now);
  desk_.out.clear();
  std::visit([this](const auto& one) { on(one); }, event);
  scan();
  if (run_) run_->tick();
  run_next_job();
  desk_.store.pump(desk_.now, desk_.out);
  return std::exchange(desk_.out, {});
}

TimeNs Coordinator::Impl::next_wakeup_ns() const {
  TimeNs due = desk_.store.next_due_ns();
  if (desk_.roster.size() > 0) due = std::min(due, scan_at_ns_);
  if (run_) due = std::min(due, run_->next_due_ns());
  return due;
}

Coordinator::Coordinator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Coordinator::~Coordinator() = default;

Result<std::unique_ptr<Coordinator>> Coordinator::make(CoordinatorConfig config,
                                                       CoordinatorState state) {
  auto impl = std::make_unique<Impl>(std::move(config));
  TRIBUTARY_TRY(impl->restore(std::move(state)));
  return std::unique_ptr<Coordinator>(new Coordinator(std::move(impl)));
}

Actions Coordinator::handle(TimeNs now, const Event& event) { return impl_->handle(now, event); }
TimeNs Coordinator::next_wakeup_ns() const { return impl_->next_wakeup_ns(); }

bool Coordinator::idle() const {
  const bool asked = std::ranges::any_of(impl_->desk_.roster.all(), [](const auto& item) {
    return item.second->conversation.unanswered() > 0;
  });
  return !asked && impl_->desk_.store.empty();
}

std::vector<Coordinator::AgentView> Coordinator::agents() const {
  std::vector<AgentView> views;
  for (const auto& [number, session] : impl_->desk_.roster.all()) {
    views.push_back({.agent_id = session->agent_id,
                     .incarnation = session->incarnation,
                     .ready = impl_->run_ && impl_->run_->ready(*session),
                     .model_version = session->version,
                     .heard_at_ns = session->conversation.heard_at_ns()});
  }
  std::ranges::sort(views, {}, &AgentView::agent_id);
  return views;
}

std::vector<Coordinator::JobView> Coordinator::jobs() const {
  std::vector<JobView> views = impl_->done_;
  const auto add = [&](const JobRecord& record, const std::string& name, std::uint64_t rounds,
                       std::uint64_t committed) {
    views.push_back({.job = record.job,
                     .name = name,
                     .state = record.state,
                     .rounds = rounds,
                     .rounds_committed = committed});
  };
  if (const JobRun* run = impl_->run_.get()) {
    const wire::Job& job = run->model_of_job().wire();
    add(run->record(), job.name()->str(), job.rounds(), run->version());
  }
  for (const RestoredJob& waiting : impl_->waiting_) {
    const Result<std::shared_ptr<const JobModel>> job = JobModel::make(waiting.job.definition);
    if (!job.ok()) continue;
    add(waiting.job, (*job)->wire().name()->str(), (*job)->wire().rounds(),
        waiting.checkpoint.model_version);
  }
  return views;
}

RoundKey Coordinator::current_round() const {
  return impl_->run_ ? impl_->run_->current_round() : RoundKey{};
}
std::uint64_t Coordinator::model_version() const {
  return impl_->run_ ? impl_->run_->version() : 0;
}
std::uint64_t Coordinator::model_hash() const {
  return impl_->run_ ? impl_->run_->model_hash() : 0;
}
SharedFloats Coordinator::model() const { return impl_->run_ ? impl_->run_->model() : nullptr; }
SharedFloats Coordinator::aggregator_residual() const {
  return impl_->run_ ? impl_->run_->aggregator_residual() : nullptr;
}
std::uint64_t Coordinator::buffered_bytes() const {
  return impl_->run_ ? impl_->run_->buffered_bytes() : 0;
}

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
