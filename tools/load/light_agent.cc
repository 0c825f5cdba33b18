#include "tools/load/light_agent.h"

#include <algorithm>
#include <utility>

#include "core/round/agent/round/upload.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

constexpr TimeNs kHelloAgainNs = 5'000 * kNsPerMs;
// Without a part of any aggregate for so long, what is missing is asked for.
constexpr TimeNs kAskAfterNs = 2'000 * kNsPerMs;

}  // namespace

void LightAgent::fail(std::string_view what, const Status& status) {
  out_.emplace_back(Note{
      .level = LogLevel::error, .name = what, .source = options_.agent_id, .text = status.text()});
  out_.emplace_back(Finished{.status = status});
}

// --- connection --------------------------------------------------------------------------------

Actions LightAgent::handle(TimeNs now, const Event& event) {
  now_ = std::max(now_, now);
  out_.clear();
  if (const auto* received = std::get_if<FrameReceived>(&event)) {
    receive(*received);
  } else if (std::holds_alternative<PeerAlive>(event)) {
    if (talk_) talk_->heard(now_);
  } else if (std::holds_alternative<PeerConnected>(event)) {
    if (line_ != Line::online) hello_at_ns_ = now_;
  } else if (std::holds_alternative<PeerDisconnected>(event)) {
    if (line_ != Line::offline) hang_up();
  }
  look_after_connection();
  if (round_ && talk_) round_->outgoing.pump(now_, kAskAfterNs, upload());
  ask_for_missing();
  if (talk_) talk_->acknowledge_bulk(now_, out_);
  return std::exchange(out_, {});
}

TimeNs LightAgent::next_wakeup_ns() const {
  if (line_ != Line::online) return hello_at_ns_;
  TimeNs due = talk_->next_due_ns();
  if (round_) due = std::min({due, round_->outgoing.next_due_ns(), round_->ask_at_ns});
  return due;
}

void LightAgent::say_hello() {
  wire::HelloT hello;
  hello.version_min = wire::kProtocolVersionMin;
  hello.version_max = wire::kProtocolVersionMax;
  hello.build = "tributary load";
  hello.role = wire::Role::agent;
  hello.agent_id = options_.agent_id;
  hello.incarnation = options_.incarnation;
  hello.capabilities = std::make_unique<wire::CapabilitiesT>();
  if (job_ && model_.values) {
    auto holding = std::make_unique<wire::HoldingT>();
    holding->job = job_->job();
    holding->job_revision = job_->revision();
    holding->layer_map_hash = job_->layer_map_hash();
    holding->epoch = place_.epoch;
    holding->model_version = holding->residual_version = model_.version;
    holding->model_hash = model_.hash;
    hello.holdings.push_back(std::move(holding));
  }
  wire::FrameT frame = frame_with(std::move(hello));
  if (line_ == Line::offline) ++hello_id_;
  line_ = Line::greeting;
  hello_at_ns_ = now_ + kHelloAgainNs;
  frame.message_id = hello_id_;
  frame.sent_at_ns = static_cast<std::uint64_t>(now_);
  Result<Bytes> bytes = build_frame(frame);
  if (!bytes.ok()) return fail("frame_not_built", bytes.status());
  out_.emplace_back(Send{.peer = 0, .frame = std::move(*bytes)});
}

void LightAgent::hang_up() {
  out_.emplace_back(Note{.level = LogLevel::warning,
                         .name = "session_lost",
                         .source = options_.agent_id,
                         .text = "begins again with Hello"});
  line_ = Line::offline;
  talk_.reset();
  download_.reset();
  next_plan_.reset();
  hello_at_ns_ = now_;
}

void LightAgent::look_after_connection() {
  if (line_ != Line::online) {
    if (now_ >= hello_at_ns_) say_hello();
    return;
  }
  if (talk_->heartbeat_due(now_)) {
    const auto activity = round_ ? wire::Activity::waiting : wire::Activity::idle;
    talk_->heartbeat(now_, activity, round_ ? round_->plan().key() : RoundKey{}, out_);
  }
  if (!talk_->trouble(now_).empty()) hang_up();
}

void LightAgent::answer(std::uint64_t message_id) {
  if (!talk_ || message_id == 0) return;
  talk_->acknowledge(now_, message_id, out_);
}

void LightAgent::receive(const FrameReceived& event) {
  Bytes aligned;
  const Result<const wire::Frame*> opened = open_frame(event.frame, aligned);
  if (!opened.ok()) return fail("frame_refused", opened.status());
  const wire::Frame& frame = **opened;
  if (wire::rules_of(frame.message_type()).has(wire::kHasPayload)) {
    if (Status status = check_payload(frame, event.payload); !status.ok()) {
      return fail("bad_checksum", status);
    }
  }
  if (const wire::Welcome* welcome = frame.message_as_Welcome()) {
    if (line_ != Line::greeting || frame.in_reply_to() != hello_id_) return;
    talk_.emplace(
        0, frame.session(),
        ConversationTimes{.heartbeat_interval_ns = welcome->heartbeat_interval_ms() * kNsPerMs,
                          .heartbeat_timeout_ns = welcome->heartbeat_timeout_ms() * kNsPerMs,
                          .ack_timeout_ns = welcome->ack_timeout_ms() * kNsPerMs,
                          .retries_max = std::max(welcome->retries_max(), 1u)},
        now_);
    line_ = Line::online;
    if (round_) {
      round_->outgoing.reconnected();
      limit_upload(round_->plan(), welcome->limits()->payloads_in_flight_max(), *talk_);
      round_->ask_at_ns = now_;
    }
    return;
  }
  if (line_ != Line::online || frame.session() != talk_->session()) {
    if (frame.message_type() == wire::Message::Refusal) {
      line_ = Line::offline;
      hello_at_ns_ = now_ + kHelloAgainNs;
    }
    return;
  }
  if (talk_->arrived(now_, frame, out_) == Conversation::Arrival::fresh) {
    dispatch(frame, event.payload);
  }
}

void LightAgent::dispatch(const wire::Frame& frame, ByteSpan payload) {
  const std::uint64_t id = frame.message_id();
  switch (frame.message_type()) {
    case wire::Message::Ack:
      talk_->answered(frame);
      return;
    case wire::Message::Heartbeat:
      talk_->heard_heartbeat(now_, frame, out_);
      return;
    case wire::Message::Job:
      answer(id);
      return receive_job(*frame.message_as_Job());
    case wire::Message::Membership: {
      answer(id);
      const wire::Membership& membership = *frame.message_as_Membership();
      if (membership.epoch() <= place_.epoch) return;
      place_.epoch = membership.epoch();
      place_.member = membership.agent_index();
      return;
    }
    case wire::Message::Plan:
      answer(id);
      return receive_plan(*frame.message_as_Plan());
    case wire::Message::Aggregate:
      return receive_aggregate(*frame.message_as_Aggregate(), payload);
    case wire::Message::Receipt: {
      const wire::Receipt& receipt = *frame.message_as_Receipt();
      if (!round_ || round_->plan().key() != key_of(*receipt.id())) return;
      limit_upload(round_->plan(), receipt.payloads_in_flight_max(), *talk_);
      return round_->outgoing.receipt(now_, kAskAfterNs, receipt, upload());
    }
    case wire::Message::Commit:
      answer(id);
      return receive_commit(*frame.message_as_Commit());
    case wire::Message::Abort:
      answer(id);
      if (round_ && round_->plan().key() == key_of(*frame.message_as_Abort()->id())) end_round();
      return;
    case wire::Message::TransferOffer:
      return receive_offer(*frame.message_as_TransferOffer(), id);
    case wire::Message::TransferPart:
      return receive_part(*frame.message_as_TransferPart(), payload);
    case wire::Message::Leave:
      answer(id);
      return hang_up();
    case wire::Message::Refusal:
      return hang_up();
    default:
      return answer(id);
  }
}

// --- job and model -----------------------------------------------------------------------------

void LightAgent::receive_job(const wire::Job& job) {
  Result<std::shared_ptr<const JobModel>> taken = options_.replica->take_job(job);
  if (!taken.ok()) return fail("job_refused", taken.status());
  job_ = std::move(*taken);
}

void LightAgent::receive_offer(const wire::TransferOffer& offer, std::uint64_t message_id) {
  talk_->answer_later(message_id);
  download_.emplace(Download{});
  download_->message_id = message_id;
  offer.UnPackTo(&download_->offer);
  download_->payload = options_.replica->place_of(download_->offer);
  if (download_->payload->whole() && offer.bytes() == 0) finish_download();
}

void LightAgent::receive_part(const wire::TransferPart& part, ByteSpan payload) {
  if (!download_ || part.transfer() != download_->offer.transfer) return;
  Download& download = *download_;
  if (Status status = download.payload->take(download.offer.bytes, part.offset(), payload);
      !status.ok()) {
    return fail("transfer_differs", status);
  }
  download.received.add({part.offset(), payload.size()});
  if (download.received.bytes() == download.offer.bytes) finish_download();
}

void LightAgent::finish_download() {
  const Download download = std::move(*download_);
  download_.reset();
  Result<SharedModel> model =
      options_.replica->take_model(download.offer, download.payload->whole());
  if (!model.ok()) return fail("transfer_differs", model.status());
  model_ = std::move(*model);
  answer(download.message_id);
  if (round_ && round_->plan().key().round <= model_.version) end_round();
  if (next_plan_) begin_plan(*std::exchange(next_plan_, std::nullopt));
}

// --- rounds ------------------------------------------------------------------------------------

void LightAgent::receive_plan(const wire::Plan& plan) {
  const RoundKey key = key_of(*plan.id());
  if (!job_ || key.round <= model_.version || (round_ && key <= round_->plan().key())) return;
  Result<std::shared_ptr<SharedRound>> shared = options_.replica->round_of(plan);
  if (!shared.ok()) return fail("plan_refused", shared.status());
  OwnPlan own = {.shared = std::move(*shared), .weight = plan.weight()};
  for (const wire::Exchange* exchange : *plan.exchanges()) own.shares.push_back(exchange->ratio());
  begin_plan(std::move(own));
}

void LightAgent::begin_plan(OwnPlan own) {
  const RoundPlan& plan = *own.shared->plan;
  if (plan.key().round <= model_.version) return;
  if (!model_.values || plan.wire().model_version != model_.version) {
    next_plan_ = std::move(own);
    return;
  }
  if (plan.wire().model_hash != model_.hash) {
    return fail("replica_diverged", Status(StatusCode::mismatch, {.what = "model of a plan"}));
  }
  end_round();
  round_ = std::make_unique<Round>();
  round_->shared = std::move(own.shared);
  round_->weight = own.weight;
  round_->shares = std::move(own.shares);
  round_->outgoing.begin(plan.wire().payloads_in_flight_max == 0);
  if (talk_) {
    limit_upload(round_->plan(), std::max(plan.wire().payloads_in_flight_max, 1u), *talk_);
  }
  for (const PlannedBucket& bucket : plan.buckets()) round_->stages.emplace_back(bucket.stages());
  round_->combined.resize(plan.buckets().size());
  if (round_->weight > 0 && plan.key().epoch == place_.epoch &&
      plan.participants().test(place_.member)) {
    round_->member = place_.member;
    round_->ask_at_ns = now_ + kAskAfterNs;
    for (std::uint32_t i = 0; i < plan.buckets().size(); ++i) contribute(i);
    report();
  }
  try_commit();
}

// The stage that is open.
void LightAgent::contribute(std::uint32_t bucket) {
  const RoundPlan& plan = round_->plan();
  const auto& combined = round_->combined[bucket];
  if (!round_->member || combined.size() >= plan.buckets()[bucket].stages()) return;
  const wire::BucketT& planned = *plan.wire().buckets[plan.buckets()[bucket].place];
  const SharedReplica::Sender sender = {.number = options_.number,
                                        .rank = *plan.rank(*round_->member),
                                        .keep = round_->shares[planned.exchange]};
  Result<SharedBytes> payload =
      options_.replica->payload(*round_->shared, sender, bucket, combined);
  if (!payload.ok()) return fail("bucket_not_encoded", payload.status());
  if (!*payload) return;
  round_->outgoing.add(bucket, static_cast<std::uint32_t>(combined.size()), std::move(*payload));
}

// Only while there is a round and a session.
Outgoing::Session LightAgent::upload() {
  return upload_session({.now = now_,
                         .session = *talk_,
                         .plan = round_->plan(),
                         .member = round_->member.value_or(0),
                         .weight = round_->weight,
                         .out = out_,
                         .bytes_up = round_->bytes_up});
}

void LightAgent::end_round() {
  if (round_ && talk_) round_->outgoing.stop_all(upload());
  round_.reset();
}

void LightAgent::report() {
  if (round_->reported || !round_->member || !talk_) return;
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    if (round_->combined[bucket.index].size() < bucket.last_stage()) return;
  }
  round_->reported = true;
  talk_->ask(
      now_,
      [key = round_->plan().key(), member = *round_->member, model = model_] {
        wire::ReportT report;
        report.id = std::make_unique<wire::RoundId>(wire_id(key));
        report.agent_index = member;
        report.model_version = model.version;
        report.model_hash = model.hash;
        report.examples = 1;
        return frame_with(std::move(report));
      },
      out_);
}

void LightAgent::receive_aggregate(const wire::Aggregate& aggregate, ByteSpan payload) {
  const wire::Part& part = *aggregate.part();
  if (!round_ || round_->plan().key() != key_of(*part.id())) return;
  if (part.bucket() >= round_->stages.size() ||
      part.stage() >= round_->stages[part.bucket()].size()) {
    return;
  }
  const std::uint32_t bucket = part.bucket();
  Arriving& arriving = round_->stages[bucket][part.stage()];
  if (!arriving.payload) {
    arriving.bytes = part.stage_bytes();
    arriving.payload =
        SharedReplica::place_of(*round_->shared, bucket, part.stage(), arriving.bytes);
  }
  Status status = arriving.payload->take(part.stage_bytes(), part.offset(), payload);
  if (!status.ok()) return fail("aggregate_differs", status);
  arriving.received.add({part.offset(), payload.size()});
  if (round_->ask_at_ns != kNever) round_->ask_at_ns = now_ + kAskAfterNs;
  if (arriving.received.bytes() < arriving.bytes || arriving.whole) return;
  arriving.whole = arriving.payload->whole();
  auto& combined = round_->combined[bucket];
  while (combined.size() < round_->stages[bucket].size() &&
         round_->stages[bucket][combined.size()].whole) {
    round_->outgoing.cancel(bucket, static_cast<std::uint32_t>(combined.size()), upload());
    combined.push_back(round_->stages[bucket][combined.size()].whole);
    contribute(bucket);
  }
  report();
  try_commit();
}

void LightAgent::ask_for_missing() {
  if (!round_ || !talk_ || now_ < round_->ask_at_ns) return;
  round_->ask_at_ns = now_ + kAskAfterNs;
  for (std::uint32_t bucket = 0; bucket < round_->stages.size(); ++bucket) {
    const std::size_t stage = round_->combined[bucket].size();
    if (stage >= round_->stages[bucket].size()) continue;
    const Arriving& arriving = round_->stages[bucket][stage];
    wire::ReceiptT receipt;
    receipt.id = std::make_unique<wire::RoundId>(wire_id(round_->plan().key()));
    receipt.bucket = bucket;
    receipt.stage = static_cast<std::uint8_t>(stage);
    receipt.received_bytes = arriving.received.from_start();
    receipt.payloads_in_flight_max = 1;
    talk_->send(now_, frame_with(std::move(receipt)), out_);
  }
}

void LightAgent::receive_commit(const wire::Commit& commit) {
  if (!job_ || commit.model_version() > model_.version + 1) return;
  if (commit.model_version() <= model_.version) {
    applied_ = key_of(*commit.id());
    if (commit.model_version() == model_.version) send_applied();
    return;
  }
  commit_ = std::make_unique<wire::CommitT>();
  commit.UnPackTo(commit_.get());
  if (round_ && round_->ask_at_ns == kNever) {
    // To those that took part aggregates are on their way.
    round_->ask_at_ns = round_->member ? now_ + kAskAfterNs : now_;
  }
  try_commit();
}

void LightAgent::try_commit() {
  if (!commit_ || !round_ || round_->plan().key() != key_of(*commit_->id)) return;
  for (const auto& outcome : commit_->rounds[0]->outcomes) {
    if (outcome->bucket >= round_->stages.size() ||
        round_->combined[outcome->bucket].size() < round_->stages[outcome->bucket].size()) {
      return;
    }
  }
  Result<SharedModel> model = options_.replica->apply(*round_->shared, *commit_, round_->combined);
  if (!model.ok()) return fail("replica_diverged", model.status());
  model_ = std::move(*model);
  applied_ = key_of(*commit_->id);
  end_round();
  commit_.reset();
  send_applied();
  if (next_plan_) begin_plan(*std::exchange(next_plan_, std::nullopt));
}

void LightAgent::send_applied() {
  talk_->ask(
      now_,
      [id = applied_, hash = model_.hash] {
        wire::AppliedT applied;
        applied.id = std::make_unique<wire::RoundId>(wire_id(id));
        applied.model_version = id.round;
        applied.model_hash = hash;
        return frame_with(std::move(applied));
      },
      out_);
}

}  // namespace tributary
