#include "core/round/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/checksum.h"
#include "core/round/agent_impl.h"
#include "core/round/upload.h"
#include "schemas/payload.h"

namespace tributary {

void Agent::Impl::not_for_us(std::string_view what) {
  note(LogLevel::warning, "event_ignored", what, "not an event of an agent");
}

void Agent::Impl::note(LogLevel level, std::string_view name, std::string_view reason,
                       std::string text) {
  out_.emplace_back(Note{.level = level,
                         .name = name,
                         .reason = reason,
                         .source = "coordinator",
                         .text = std::move(text),
                         .job = job_ ? job_->job() : 0,
                         .round = round_ ? round_->key().round : 0});
}

// --- hello -------------------------------------------------------------------------------------

void Agent::Impl::on(const PeerConnected&) {
  if (line_ == Line::online || finished_) return;
  line_ = Line::offline;  // a Hello that was said to nobody is said again at once
  hello_at_ns_ = now_;
  has_connection_ = true;
  unheard_since_ns_ = kNever;
}

void Agent::Impl::on(const PeerDisconnected&) {
  has_connection_ = false;
  if (line_ != Line::offline) hang_up("disconnected", 0);
}

// With the connection that is made instead comes another Hello.
void Agent::Impl::give_up_silent_connection() {
  unheard_since_ns_ = std::min(unheard_since_ns_, now_);
  if (!has_connection_ || now_ - unheard_since_ns_ < config_.give_up_after_ms * kNsPerMs) return;
  note(LogLevel::warning, "connection_given_up", "silent", "dials again");
  out_.emplace_back(ClosePeer{});
  has_connection_ = false;
}

void Agent::Impl::send_hello() {
  give_up_silent_connection();
  wire::HelloT hello;
  hello.version_min = wire::kProtocolVersionMin;
  hello.version_max = wire::kProtocolVersionMax;
  hello.build = config_.build;
  hello.role = wire::Role::agent;
  hello.agent_id = config_.agent_id;
  hello.incarnation = config_.incarnation;
  for (const std::string& endpoint : config_.endpoints) {
    hello.endpoints.push_back(std::make_unique<wire::EndpointT>());
    hello.endpoints.back()->address = endpoint;
  }
  hello.capabilities = std::make_unique<wire::CapabilitiesT>(config_.capabilities);
  speeds_to_tell_ = false;
  if (job_) {
    auto holding = std::make_unique<wire::HoldingT>();
    holding->job = job_->job();
    holding->job_revision = job_->revision();
    holding->layer_map_hash = job_->layer_map_hash();
    holding->epoch = epoch_;
    holding->model_version = model_ ? version_ : 0;
    holding->model_hash = model_ ? model_hash_ : 0;
    if (download_) {
      holding->download_hash = download_->hash();
      holding->download_bytes = download_->received_from_start();
    }
    holding->residual_version = std::min(residual_.stamp().version, holding->model_version);
    for (const UndecidedRound& round : residual_.undecided()) {
      if (holding->undecided.size() < wire::kRoundsPerCommitMax) {
        holding->undecided.push_back(wire_id(round.id));
      }
    }
    hello.holdings.push_back(std::move(holding));
  }
  wire::FrameT frame = frame_with(std::move(hello));
  if (line_ == Line::offline) {
    ++hello_id_;
    hello_wait_ns_ = config_.hello_timeout_ms * kNsPerMs;
  } else {
    hello_wait_ns_ = std::min(hello_wait_ns_ * 2, config_.hello_timeout_max_ms * kNsPerMs);
  }
  line_ = Line::greeting;
  hello_at_ns_ = now_ + hello_wait_ns_;
  frame.message_id = hello_id_;
  frame.sent_at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(now_, 0));
  Result<Bytes> bytes = build_frame(frame);
  if (!bytes.ok()) return finish(bytes.status());
  out_.emplace_back(Send{.peer = 0, .frame = std::move(*bytes)});
}

// What is under way of a round stays: it is addressed by its RoundId, not by the session.
void Agent::Impl::hang_up(std::string_view reason, TimeNs again_after_ns) {
  note(LogLevel::warning, "session_lost", reason, "begins again with Hello");
  line_ = Line::offline;
  count_repeats();
  talk_.reset();
  if (download_) download_->session_lost();
  transfer_requested_ = false;
  next_rounds_.clear();
  hello_at_ns_ = now_ + again_after_ns;
}

void Agent::Impl::welcomed(const wire::Welcome& welcome, std::uint64_t session) {
  talk_.emplace(
      0, session,
      ConversationTimes{.heartbeat_interval_ns = welcome.heartbeat_interval_ms() * kNsPerMs,
                        .heartbeat_timeout_ns = welcome.heartbeat_timeout_ms() * kNsPerMs,
                        .ack_timeout_ns = welcome.ack_timeout_ms() * kNsPerMs,
                        .retries_max = std::max(welcome.retries_max(), 1u)},
      now_);
  line_ = Line::online;
  if (hello_wait_ns_ == config_.hello_timeout_ms * kNsPerMs) {  // it was said once
    talk_->round_trip(now_, now_ - (hello_at_ns_ - hello_wait_ns_));
  }
  tell_speeds();
  duplicate_refusals_ = 0;
  if (round_) {
    round_->outgoing.reconnected();
    round_->ask_at_ns = now_;  // what the lost session may have taken along
    limit_upload(round_->plan(), welcome.limits()->payloads_in_flight_max(), *talk_);
    // A commit that it had and could not do yet comes again in this session.
    commit_.reset();
    if (round_->plan().by_peers()) say_again_of_exchange();
  }
}

void Agent::Impl::refused(const wire::Frame& frame, const wire::Refusal& refusal) {
  const std::string text = fmt::format("{}: expected {}, got {}; {}", refusal.what()->string_view(),
                                       refusal.expected() ? refusal.expected()->string_view() : "",
                                       refusal.got() ? refusal.got()->string_view() : "",
                                       refusal.remedy() ? refusal.remedy()->string_view() : "");
  if (line_ == Line::online) {
    if (refusal.code() == wire::RefusalCode::wrong_session) return hang_up("wrong_session", 0);
    note(LogLevel::warning, "refused", wire::EnumNameRefusalCode(refusal.code()), text);
    if (talk_->answered(frame) && refusal.closes()) hang_up("refused", 0);
    return;
  }
  // Of an earlier session's message with the same number it would say a session.
  if (line_ != Line::greeting || frame.in_reply_to() != hello_id_ || frame.session() != 0) return;
  note(LogLevel::warning, "hello_refused", wire::EnumNameRefusalCode(refusal.code()), text);
  const bool duplicate = refusal.code() == wire::RefusalCode::duplicate_agent;
  duplicate_refusals_ = duplicate ? duplicate_refusals_ + 1 : 0;
  if (refusal.retry_after_ms() == 0 || duplicate_refusals_ > config_.duplicate_refusals_max) {
    return finish(
        Status(duplicate ? StatusCode::already_exists : StatusCode::unsupported,
               {.what = "coordinator's answer", .expected = "welcome", .got = text, .remedy = {}}));
  }
  line_ = Line::offline;
  hello_at_ns_ = now_ + refusal.retry_after_ms() * kNsPerMs;
}

void Agent::Impl::finish(Status status) {
  if (finished_) return;
  finished_ = true;
  out_.emplace_back(Finished{.status = std::move(status)});
}

// --- frames ------------------------------------------------------------------------------------

void Agent::Impl::on(const FrameReceived& event) {
  Bytes aligned;
  const Result<const wire::Frame*> opened = open_frame(event.frame, aligned);
  if (!opened.ok()) {
    const Status status = opened.status();
    return refuse_frame(name(status.code()), status.text());
  }
  unheard_since_ns_ = kNever;
  const wire::Frame& frame = **opened;
  if (wire::rules_of(frame.message_type()).has(wire::kHasPayload)) {
    if (Status status = check_payload(frame, event.payload); !status.ok()) {
      return refuse_frame("bad_checksum", status.text());
    }
  }
  if (const wire::Welcome* welcome = frame.message_as_Welcome()) {
    if (line_ == Line::greeting && frame.in_reply_to() == hello_id_) {
      welcomed(*welcome, frame.session());
    }
    return;
  }
  if (const wire::Refusal* refusal = frame.message_as_Refusal();
      refusal && (line_ == Line::greeting || (talk_ && frame.session() == talk_->session()))) {
    return refused(frame, *refusal);
  }
  if (line_ != Line::online || frame.session() != talk_->session()) {
    return refuse_frame("wrong_session", wire::EnumNameMessage(frame.message_type()));
  }
  in_session(frame, event);
}

void Agent::Impl::in_session(const wire::Frame& frame, const FrameReceived& event) {
  switch (talk_->arrived(now_, frame, out_)) {
    case Conversation::Arrival::repeat:
      return;
    case Conversation::Arrival::refused:
      return refuse_frame("replayed", "a message id that is out of order");
    case Conversation::Arrival::fresh:
      break;
  }
  dispatch(frame, event);
}

void Agent::Impl::answer(std::uint64_t message_id) {
  if (!talk_ || message_id == 0) return;
  talk_->answered_now(message_id);
  talk_->acknowledge(now_, message_id, out_);
}

void Agent::Impl::refuse_message(std::uint64_t message_id, wire::RefusalCode code,
                                 const Status& status) {
  note(LogLevel::warning, "message_refused", wire::EnumNameRefusalCode(code), status.text());
  if (talk_) talk_->refuse(now_, message_id, refusal_of(code, status), out_);
}

void Agent::Impl::dispatch(const wire::Frame& frame, const FrameReceived& event) {
  const std::uint64_t id = frame.message_id();
  const ByteSpan payload = event.payload;
  switch (frame.message_type()) {
    case wire::Message::Ack:
      talk_->answered(frame);
      return;
    case wire::Message::Heartbeat:
      talk_->heard_heartbeat(now_, frame, out_);
      return;
    case wire::Message::Job:
      return receive_job(*frame.message_as_Job(), id);
    case wire::Message::JobChange:
      return receive_job_change(*frame.message_as_JobChange(), id);
    case wire::Message::Membership:
      answer(id);
      return receive_membership(*frame.message_as_Membership());
    case wire::Message::Plan:
      return receive_plan(*frame.message_as_Plan(), id);
    case wire::Message::Aggregate:
      return receive_aggregate(*frame.message_as_Aggregate(), payload);
    case wire::Message::Receipt:
      return receive_receipt(*frame.message_as_Receipt());
    case wire::Message::Commit:
      answer(id);
      return receive_commit(*frame.message_as_Commit());
    case wire::Message::Abort:
      answer(id);
      return receive_abort(*frame.message_as_Abort());
    case wire::Message::TransferOffer:
      return receive_offer(*frame.message_as_TransferOffer(), id);
    case wire::Message::TransferPart:
      return receive_part(*frame.message_as_TransferPart(), payload);
    case wire::Message::Leave:
      answer(id);
      return hang_up("coordinator_left", config_.hello_timeout_ms * kNsPerMs);
    case wire::Message::LinkProbe:
      return receive_probe(*frame.message_as_LinkProbe(), event.waited_for);
    default:
      refuse_frame("not_allowed", wire::EnumNameMessage(frame.message_type()));
  }
}

// --- time --------------------------------------------------------------------------------------

void Agent::Impl::look_after_connection() {
  if (line_ != Line::online) {
    if (!shutting_down_ && now_ >= hello_at_ns_) send_hello();
    return;
  }
  if (talk_->heartbeat_due(now_)) {
    const RoundKey round = round_ ? round_->key() : RoundKey{.job = job_ ? job_->job() : 0};
    wire::Activity activity = wire::Activity::idle;
    if (training_) {
      activity = wire::Activity::training;
    } else if (download_ && download_->offer()) {
      activity = wire::Activity::transferring;
    } else if (round_) {
      activity = wire::Activity::waiting;
    }
    talk_->heartbeat(now_, activity, round, out_);
  }
  if (talk_->silent(now_)) return hang_up("silent", 0);
  if (talk_->failed()) return hang_up("no_answer", 0);
}

void Agent::Impl::on(const Shutdown& event) {
  shutting_down_ = true;
  if (line_ != Line::online) return;
  talk_->ask(
      now_,
      [reason = event.reason] {
        wire::LeaveT leave;
        leave.reason = wire::LeaveReason::shutdown;
        leave.text = reason.substr(0, wire::kTextBytesMax);
        return frame_with(std::move(leave));
      },
      out_);
}

Actions Agent::Impl::handle(TimeNs now, Event& event) {
  now_ = std::max(now_, now);
  out_.clear();
  if (finished_) return {};
  std::visit([this](auto& one) { on(one); }, event);
  look_after_connection();
  take_waiting_update();
  try_next_round();
  continue_exchange();
  pump_payloads();
  ask_for_missing();
  ask_for_download();
  replace_overdue_commit();
  if (talk_) talk_->acknowledge_bulk(now_, out_);
  store_.pump(now_, out_);
  if (shutting_down_ && store_.empty() && (!talk_ || talk_->unanswered() == 0)) finish(Status());
  return std::exchange(out_, {});
}

TimeNs Agent::Impl::next_wakeup_ns() const {
  if (finished_) return kNever;
  TimeNs due = store_.next_due_ns();
  if ((exchanging() && !round_->peers->all_begun()) || trying()) return now_;
  if (line_ != Line::online) return shutting_down_ ? due : std::min(due, hello_at_ns_);
  due = std::min(due, talk_->next_due_ns());
  if (download_) due = std::min(due, download_->ask_at_ns());
  due = std::min(due, commit_overdue_ns());
  if (round_) due = std::min({due, round_->outgoing.next_due_ns(), round_->ask_at_ns});
  return due;
}

// --- the outside -------------------------------------------------------------------------------

Agent::Agent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::make(AgentConfig config, AgentState state) {
  auto impl = std::make_unique<Impl>(std::move(config));
  TRIBUTARY_TRY(impl->restore(std::move(state)));
  return std::unique_ptr<Agent>(new Agent(std::move(impl)));
}

Actions Agent::handle(TimeNs now, Event event) { return impl_->handle(now, event); }
TimeNs Agent::next_wakeup_ns() const { return impl_->next_wakeup_ns(); }
bool Agent::idle() const {
  return impl_->store_.empty() && (!impl_->talk_ || impl_->talk_->unanswered() == 0);
}
bool Agent::connected() const { return impl_->line_ == Impl::Line::online; }
wire::Activity Agent::activity() const {
  if (impl_->training_) return wire::Activity::training;
  if (impl_->download_ && impl_->download_->offer()) return wire::Activity::transferring;
  return impl_->round_ ? wire::Activity::waiting : wire::Activity::idle;
}
std::uint64_t Agent::job() const { return impl_->job_ ? impl_->job_->job() : 0; }
RoundKey Agent::current_round() const { return impl_->round_ ? impl_->round_->key() : RoundKey{}; }
std::uint64_t Agent::model_version() const { return impl_->version_; }
std::uint64_t Agent::model_hash() const { return impl_->model_hash_; }
SharedFloats Agent::model() const { return impl_->model_; }
SharedFloats Agent::residual() const { return impl_->residual_.shared(); }
std::uint64_t Agent::missing_of_update(std::uint64_t round) const {
  const std::optional<Impl::Training>& training = impl_->training_;
  if (training && training->exchange > 0 && training->plan->key().round == round) {
    return impl_->job_->values();  // another update than the one that the residual has
  }
  return impl_->residual_.missing(round);
}
double Agent::residual_unit() const { return impl_->residual_.stamp().learning_rate; }
std::uint64_t Agent::updates_taken() const { return impl_->residual_.stamp().updates_taken; }
std::vector<UndecidedRound> Agent::undecided() const { return impl_->residual_.undecided(); }

std::uint64_t Agent::buffered_bytes() const {
  std::uint64_t bytes = impl_->peers_.bytes() + (impl_->round_ ? impl_->round_->bytes() : 0);
  for (const auto& [key, round] : impl_->next_rounds_) bytes += round->bytes();
  if (impl_->download_) bytes += impl_->download_->bytes();
  return bytes;
}

std::uint64_t Agent::state_hash() const {
  Checksum checksum;
  const auto add = [&](const auto& value) {
    checksum.update({reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
  };
  add(impl_->version_);
  add(impl_->model_hash_);
  add(impl_->epoch_);
  const RoundKey round = current_round();
  add(round.round);
  add(round.epoch);
  add(round.attempt);
  const std::uint64_t taken = updates_taken();
  add(taken);
  if (const SharedFloats values = residual()) {
    checksum.update(bytes_of(std::span<const float>(*values)));
  }
  for (const UndecidedRound& undecided : impl_->residual_.undecided()) {
    add(undecided.id.round);
    add(undecided.id.attempt);
    for (const ContributionPart& part : undecided.parts) {
      add(part.values);
      if (part.if_committed) {
        checksum.update(bytes_of(std::span<const float>(*part.if_committed)));
      }
    }
  }
  return checksum.finish64();
}

}  // namespace tributary
