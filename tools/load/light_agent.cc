#include "tools/load/light_agent.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tributary {
namespace {

// Time without any part of an aggregate after which an agent asks for what is missing, as a
// production agent does (missing_aggregates.h). With a shorter time, a slow coordinator would send
// everything twice.
constexpr TimeNs kAskAfterAckTimeouts = 8;
constexpr TimeNs kAskPauseMaxNs = 30'000 * kNsPerMs;

}  // namespace

// A light agent never recovers from an error: the load test must report it and not hide it.
void LightAgent::fail(std::string_view what, const Status& status) {
  context_.out.note(LogLevel::error, what, name(status.code()), status.text());
  connection_.finish(status);
}

// Session

Actions LightAgent::handle(TimeNs now, const Event& event) {
  context_.now = std::max(context_.now, now);
  if (connection_.finished()) return {};
  if (const auto* received = std::get_if<FrameReceived>(&event)) {
    receive(*received);
  } else if (std::holds_alternative<PeerAlive>(event)) {
    session_.bytes_arrived();
  } else if (std::holds_alternative<PeerConnected>(event)) {
    connection_.connected();
  } else if (std::holds_alternative<PeerDisconnected>(event)) {
    follow(connection_.disconnected());
  }
  // These run after every event, because each event may have made one of them due.
  maintain_connection();
  upload_.pump();
  ask_for_missing();
  if (Conversation* conversation = session_.conversation()) {
    conversation->acknowledge_bulk(context_.now, context_.out.all());
  }
  return context_.out.take();
}

TimeNs LightAgent::next_wakeup_ns() const {
  if (connection_.finished()) return kNever;
  const TimeNs due = connection_.next_due_ns();
  if (!round_ || !session_.is_open()) return due;
  return std::min({due, upload_.next_due_ns(), round_->ask.due_at_ns()});
}

void LightAgent::receive(const FrameReceived& event) {
  Bytes aligned;
  const AgentConnection::Received received = connection_.receive(event, aligned);
  if (received.change == AgentConnection::Change::session_opened) {
    if (!round_) return;
    const wire::Welcome& welcome = *received.frame->message_as_Welcome();
    upload_.session_opened(welcome.limits()->payloads_in_flight_max());
    // The coordinator may have lost what was sent, so the missing aggregates are requested at once
    // in the new session.
    round_->ask.set_due(context_.now);
  } else if (received.frame) {
    dispatch(*received.frame, event);
  } else {
    follow(received.change);
  }
}

void LightAgent::dispatch(const wire::Frame& frame, const FrameReceived& event) {
  const std::uint64_t id = frame.message_id();
  switch (frame.message_type()) {
    case wire::Message::Aggregate:
      return receive(*frame.message_as_Aggregate(), event.payload);
    case wire::Message::Receipt:
      return upload_.receive(*frame.message_as_Receipt());
    case wire::Message::TransferOffer:
      return receive(*frame.message_as_TransferOffer(), id);
    case wire::Message::TransferPart:
      return receive(*frame.message_as_TransferPart(), event.payload);
    case wire::Message::LinkProbe:
      return telemetry_.echo(*frame.message_as_LinkProbe(), event.waited_for);
    default:
      session_.answer(id);
  }
  if (const wire::Job* job = frame.message_as_Job()) return receive(*job);
  if (const wire::Membership* membership = frame.message_as_Membership()) {
    return peers_.join(*membership);
  }
  if (const wire::Plan* plan = frame.message_as_Plan()) return receive(*plan);
  if (const wire::Commit* commit = frame.message_as_Commit()) return receive(*commit);
  if (const wire::Abort* abort = frame.message_as_Abort()) {
    if (round_ && round_->own.key() == key_of(*abort->id())) end_round();
  } else if (frame.message_as_Leave()) {
    follow(connection_.hang_up("coordinator_left", context_.config.hello_timeout_ms * kNsPerMs));
  }
}

// A download and a waiting plan belong to the session. The round continues in the next session.
void LightAgent::follow(AgentConnection::Change change) {
  if (change != AgentConnection::Change::session_lost) return;
  download_.reset();
  next_plan_.reset();
}

void LightAgent::maintain_connection() {
  if (connection_.hello_due()) {
    std::unique_ptr<wire::HoldingT> holding = replica_.holding();
    if (holding) holding->epoch = peers_.epoch();
    return connection_.send_hello(telemetry_.capabilities_to_send(), std::move(holding));
  }
  const auto activity = round_ ? wire::Activity::waiting : wire::Activity::idle;
  follow(connection_.maintain_session(activity, round_ ? round_->own.key() : RoundKey{}));
}

// Job and model

void LightAgent::receive(const wire::Job& job) {
  Status status = shared_->take_job(job);
  if (status.ok()) status = replica_.take(job).status();
  if (!status.ok()) fail("job_refused", status);
}

void LightAgent::receive(const wire::TransferOffer& offer, std::uint64_t message_id) {
  // The offer is answered only once the model is complete, so that the coordinator repeats it
  // otherwise.
  session_.answer_later(message_id);
  download_.emplace(Download{.message_id = message_id, .offer = {}, .arriving = {}});
  offer.UnPackTo(&download_->offer);
  download_->arriving.payload = shared_->place_of(download_->offer);
  if (offer.bytes() == 0) finish_download();
}

void LightAgent::receive(const wire::TransferPart& part, ByteSpan payload) {
  if (!download_ || part.transfer() != download_->offer.transfer) return;
  const std::uint64_t bytes = download_->offer.bytes;
  Arriving& arriving = download_->arriving;
  if (Status status = arriving.payload->take(bytes, part.offset(), payload); !status.ok()) {
    return fail("transfer_differs", status);
  }
  arriving.received.add({part.offset(), payload.size()});
  if (arriving.received.bytes() == bytes) finish_download();
}

void LightAgent::finish_download() {
  const Download download = *std::exchange(download_, std::nullopt);
  if (Status status = adopt(download); !status.ok()) return fail("transfer_differs", status);
  session_.answer(download.message_id);
  // A round up to the version of the new model is over.
  if (round_ && round_->own.key().round <= replica_.version()) end_round();
  begin_next();
}

Status LightAgent::adopt(const Download& download) {
  const SharedBytes bytes = download.arriving.payload->whole();
  TRIBUTARY_ASSIGN(const SharedModel model, shared_->take_model(download.offer, bytes));
  return replica_.adopt({.id = model.id,
                         .model = model.values,
                         .rule_state = ByteSpan(*bytes).subspan(replica_.model_bytes())});
}

// Rounds

void LightAgent::receive(const wire::Plan& plan) {
  const RoundKey key = key_of(*plan.id());
  // The plan is too old for the replica, or it is a repeat or an earlier attempt.
  if (!replica_.job() || key.round <= replica_.version() || (round_ && key <= round_->own.key())) {
    return;
  }
  const Result<std::shared_ptr<const RoundPlan>> made = shared_->plan_of(plan);
  if (!made.ok()) return fail("plan_refused", made.status());
  begin(*made);
}

void LightAgent::begin_next() {
  if (next_plan_) begin(std::exchange(next_plan_, nullptr));
}

void LightAgent::begin(const std::shared_ptr<const RoundPlan>& plan) {
  if (plan->key().round <= replica_.version()) return;
  // The plan waits for its model, which a commit or a transfer delivers.
  if (!replica_.model() || plan->wire().model_version != replica_.version()) {
    next_plan_ = plan;
    return;
  }
  if (plan->wire().model_hash != replica_.id().hash) {
    return fail("replica_diverged", Status(StatusCode::mismatch, {.what = "model of a plan"}));
  }
  end_round();
  round_ = std::make_unique<Round>(plan, shared_->round_of(plan));
  context_.out.set_round(plan->key().round);
  upload_.begin(round_->own);
  const std::uint32_t member = peers_.member();
  if (plan->wire().weight > 0 && plan->key().epoch == peers_.epoch() && member < plan->members() &&
      plan->participants().test(member)) {
    round_->own.take_part_as(member);
    round_->ask.start(context_.now, ask_after_ns(), ask_after_ns());
    // Synthetic updates take no training time.
    reporter_.measured({.update = nullptr, .examples = 1}, 0);
    for (const PlannedBucket& bucket : plan->buckets()) contribute(bucket.index);
    report();
  }
  try_commit();
}

// Sends this agent's payload of the bucket's open stage.
void LightAgent::contribute(std::uint32_t bucket) {
  const PlannedBucket& planned = round_->own.plan().buckets()[bucket];
  BucketWork& work = round_->own.work()[bucket];
  const auto stage = static_cast<std::uint32_t>(work.combined.size());
  if (!round_->own.member() || stage >= planned.stages()) return;
  const SharedReplica::Sender sender = {
      .number = number_, .rank = *round_->own.rank(), .keep = planned.keep};
  Result<SharedBytes> payload = shared_->payload(*round_->shared, sender, bucket, work.combined);
  if (!payload.ok()) return fail("bucket_not_encoded", payload.status());
  // A stage counts as encoded even if this agent sends nothing in it, as in a broadcast of another
  // root.
  work.encoded = stage + 1;
  if (*payload) {
    upload_.add({.bucket = bucket, .stage = stage, .bytes = std::move(*payload)});
  }
}

void LightAgent::end_round() {
  upload_.end();
  reporter_.drop_round();
  round_.reset();
  context_.out.set_round(0);
}

void LightAgent::report() {
  AgentRound& round = round_->own;
  if (!round.member() || !round.all_encoded() || !reporter_.can_report()) return;
  reporter_.report(round, {.model = replica_.id()});
}

void LightAgent::receive(const wire::Aggregate& aggregate, ByteSpan payload) {
  const wire::Part& part = *aggregate.part();
  if (!round_ || round_->own.key() != key_of(*part.id())) return;
  const std::vector<PlannedBucket>& buckets = round_->own.plan().buckets();
  const std::uint32_t bucket = part.bucket();
  if (bucket >= buckets.size() || part.stage() >= buckets[bucket].stages()) return;
  const std::uint64_t bytes = part.stage_bytes();
  Arriving& arriving = round_->arriving[{bucket, part.stage()}];
  if (!arriving.payload) {
    arriving.payload = SharedReplica::place_of(*round_->shared, bucket, part.stage(), bytes);
  }
  if (Status status = arriving.payload->take(bytes, part.offset(), payload); !status.ok()) {
    return fail("aggregate_differs", status);
  }
  arriving.received.add({part.offset(), payload.size()});
  round_->own.cost().bytes_down += payload.size();
  // Every part that arrives shows that the coordinator is still sending.
  if (round_->ask.running()) round_->ask.postpone(context_.now, ask_after_ns());
  if (arriving.received.bytes() < bytes || arriving.whole) return;
  arriving.whole = arriving.payload->whole();
  close_stages(bucket);
  report();
  try_commit();
}

// Closes the complete stages of the bucket, up to the first incomplete one, and contributes to the
// stage after each.
void LightAgent::close_stages(std::uint32_t bucket) {
  std::vector<SharedBytes>& combined = round_->own.work()[bucket].combined;
  while (true) {
    const auto stage = static_cast<std::uint32_t>(combined.size());
    const auto found = round_->arriving.find({bucket, stage});
    if (found == round_->arriving.end() || !found->second.whole) return;
    upload_.close_stage(bucket, stage);
    combined.push_back(found->second.whole);
    contribute(bucket);
  }
}

TimeNs LightAgent::ask_after_ns() const { return kAskAfterAckTimeouts * session_.ack_timeout_ns(); }

void LightAgent::ask_for_missing() {
  if (!round_ || !session_.is_open() || !round_->ask.due(context_.now)) return;
  round_->ask.repeat(context_.now, ask_after_ns(), kAskPauseMaxNs);
  for (const PlannedBucket& bucket : round_->own.plan().buckets()) {
    std::optional<wire::ReceiptT> missing = round_->own.missing(bucket.index);
    if (!missing) continue;
    const auto found = round_->arriving.find({bucket.index, missing->stage});
    if (found != round_->arriving.end()) {
      missing->received_bytes = found->second.received.from_start();
    }
    session_.send(frame_with(std::move(*missing)));
  }
}

// Commits

void LightAgent::receive(const wire::Commit& commit) {
  const std::uint64_t version = replica_.version();
  // A commit beyond the next version cannot be applied yet.
  if (!replica_.job() || commit.model_version() > version + 1) return;
  if (commit.model_version() <= version) {
    // The commit was applied, but its Applied message was lost.
    if (commit.model_version() == version) send_applied(key_of(*commit.id()));
    return;
  }
  commit_.hold(context_.now, commit);
  if (round_ && !round_->ask.running()) {
    // Aggregates are still on the way to an agent that participated.
    round_->ask.start(context_.now, round_->own.member() ? ask_after_ns() : 0, ask_after_ns());
  }
  try_commit();
}

void LightAgent::try_commit() {
  const wire::CommitT* commit = round_ ? commit_.of(round_->own.key()) : nullptr;
  if (!commit) return;
  const std::vector<BucketWork>& work = round_->own.work();
  const std::vector<PlannedBucket>& buckets = round_->own.plan().buckets();
  // The commit may arrive before the aggregates that it refers to.
  for (const auto& outcome : commit->rounds[0]->outcomes) {
    const std::uint32_t bucket = outcome->bucket;
    if (bucket >= work.size() || work[bucket].combined.size() < buckets[bucket].stages()) return;
  }
  const RoundKey id = round_->own.key();
  if (Status status = apply(*commit); !status.ok()) return fail("replica_diverged", status);
  reporter_.committed(round_->own);
  end_round();
  commit_.clear();
  send_applied(id);
  begin_next();
}

// Applies the commit: the replica takes the shared model and verifies its hash.
Status LightAgent::apply(const wire::CommitT& commit) {
  TRIBUTARY_ASSIGN(const SharedModel after, shared_->apply(*round_->shared, commit, round_->own));
  ModelAhead ahead = replica_.go_ahead();
  ahead.model = after.values;
  if (replica_.adopt(commit, std::move(ahead))) return {};
  return Status(StatusCode::mismatch, {.what = "model after a commit"});
}

void LightAgent::send_applied(const RoundKey& id) {
  session_.ask([id, hash = replica_.id().hash] {
    wire::AppliedT applied;
    applied.id = std::make_unique<wire::RoundId>(wire_id(id));
    applied.model_version = id.round;
    applied.model_hash = hash;
    return frame_with(std::move(applied));
  });
}

}  // namespace tributary
