// An agent's part in the rounds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/checksum.h"
#include "core/base/copy_on_write.h"
#include "core/codec/error_feedback.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/round/agent_impl.h"
#include "core/update/norm.h"
#include "core/update/update_vector.h"

namespace tributary {
namespace {

RoundKey key_of(const wire::CommitT& commit) { return tributary::key_of(*commit.id); }

}  // namespace

// --- plans -------------------------------------------------------------------------------------

void Agent::Impl::receive_membership(const wire::Membership& membership) {
  if (!job_ || membership.job() != job_->job() || membership.epoch() <= epoch_) return;
  epoch_ = membership.epoch();
  member_ = membership.agent_index();
}

void Agent::Impl::receive_plan(const wire::Plan& plan, std::uint64_t message_id) {
  if (!job_ || plan.id()->job() != job_->job()) {
    return refuse_message(message_id, wire::RefusalCode::unknown_job,
                          Status(StatusCode::not_found, {.what = "job of a plan",
                                                         .expected = "the job this agent has",
                                                         .got = "another",
                                                         .remedy = "send the Job first"}));
  }
  wire::PlanT unpacked;
  plan.UnPackTo(&unpacked);
  Result<std::shared_ptr<const RoundPlan>> made = RoundPlan::make(unpacked, *job_, codecs_);
  if (!made.ok()) {
    return refuse_message(message_id, wire::RefusalCode::unsupported, made.status());
  }
  answer(message_id);
  const RoundKey key = (*made)->key();
  if (model_ && key.round <= version_) return;
  if (round_ && key <= round_->key()) return;
  if (can_begin(**made)) return begin_plan(std::move(*made));
  if (!next_plan_ || next_plan_->key() < key) next_plan_ = std::move(*made);
}

// One that is only followed needs no epoch: it is there to be able to read a commit. So is one of
// an epoch that has ended since the plan came.
bool Agent::Impl::can_begin(const RoundPlan& plan) const {
  return model_ && !transfer_requested_ && plan.wire().model_version == version_ &&
         (plan.wire().weight == 0 || plan.key().epoch <= epoch_);
}

void Agent::Impl::try_next_plan() {
  if (next_plan_ && model_ && next_plan_->key().round <= version_) next_plan_.reset();
  if (next_plan_ && can_begin(*next_plan_)) begin_plan(std::exchange(next_plan_, nullptr));
}

void Agent::Impl::begin_plan(std::shared_ptr<const RoundPlan> plan) {
  if (plan->wire().model_hash != model_hash_) {
    note(LogLevel::error, "replica_diverged", "mismatch", "the plan's model is another");
    return request_transfer(wire::TransferReason::diverged);
  }
  close_round();
  // A new try at a round says that the ones before came to nothing.
  const RoundKey key = plan->key();
  for (const UndecidedRound& round : std::vector(residual_.undecided())) {
    if (round.id.round == key.round && round.id < key) residual_.settle_excluded(round.id);
  }
  const bool takes_part = plan->wire().weight > 0 && key.epoch == epoch_ &&
                          member_ < plan->members() && plan->participants().test(member_);
  if (takes_part && residual_.undecided().empty()) {
    residual_.rescale_to(plan->wire().learning_rate, job_->gradient());
  }
  round_ = std::make_unique<AgentRound>(
      std::move(plan), takes_part ? std::optional<std::uint32_t>(member_) : std::nullopt);
  round_->outgoing.begin(round_->plan().wire().payloads_in_flight_max);
  start_work();
  try_commit();
}

// The round is over without a commit that this agent has: what it sent stays in the residual.
void Agent::Impl::close_round() {
  if (!round_) return;
  residual_.settle_excluded(round_->key());
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    if (round_->work()[bucket.index].encoded == 0) continue;
    if (Encoder* encoder = encoders_.find(bucket)) encoder->settle({}, false);
  }
  round_.reset();
}

void Agent::Impl::receive_abort(const wire::Abort& abort) {
  const RoundKey key = tributary::key_of(*abort.id());
  if (next_plan_ && next_plan_->key() == key) next_plan_.reset();
  if (round_ && round_->key() == key) {
    close_round();
  } else {
    residual_.settle_excluded(key);
  }
}

// --- training ----------------------------------------------------------------------------------

void Agent::Impl::start_work() {
  if (!round_ || !model_ || !round_->rank() || round_->working || round_->withdrawn || training_) {
    return;
  }
  const bool has_update = residual_.stamp().update_round == round_->key().round;
  if (!has_update || (!round_->plan().conserves() && !update_)) return train();
  round_->working = true;
  encode_all();
}

void Agent::Impl::train() {
  const wire::PlanT& plan = round_->plan().wire();
  training_ = Training{.token = ++last_token_, .plan = round_->shared_plan()};
  out_.emplace_back(Train{.token = training_->token,
                          .id = round_->key(),
                          .model_version = version_,
                          .model = model_,
                          .local_steps = plan.local_steps,
                          .learning_rate = plan.learning_rate,
                          .seed = plan.seed,
                          .evaluate = plan.evaluate});
}

void Agent::Impl::on(const UpdateFailed& event) {
  if (!training_ || training_->token != event.token) return;
  const RoundKey id = std::exchange(training_, std::nullopt)->plan->key();
  if (round_ && round_->key().round == id.round) {
    withdraw(wire::AbortReason::failure, event.status);
  } else {
    start_work();
  }
}

// A part is worth only what sending it earlier brings: where it does not fit, the whole update
// comes all the same.
void Agent::Impl::on(const UpdatePart& event) {
  if (!training_ || training_->token != event.token) return;
  const RoundPlan& plan = *training_->plan;
  const std::uint64_t round = plan.key().round;
  if (!round_ || !round_->rank() || round_->withdrawn || round_->key().round != round) return;
  if (!plan.conserves() || !round_->plan().conserves() || residual_is_being_stored()) return;
  if (!residual_.shared()) return;  // beside the gradient it would take a model's memory
  const std::uint64_t missing = residual_.missing(round);
  if (!event.update || event.update->size() != job_->values() || event.first_value == 0 ||
      event.first_value >= missing || !whole_bucket_in(event.first_value, missing)) {
    return;
  }
  const auto part =
      std::span<const float>(*event.update).subspan(event.first_value, missing - event.first_value);
  if (first_not_finite(part)) return;
  residual_.add(event.first_value, part, static_cast<float>(plan.wire().weight));
  residual_.took_update(round, event.first_value);
  round_->residual_stored = false;
  encode_ready();
}

bool Agent::Impl::whole_bucket_in(std::uint64_t first, std::uint64_t end) const {
  return std::ranges::any_of(round_->plan().buckets(), [&](const PlannedBucket& bucket) {
    return bucket.first_value >= first && bucket.first_value < end;
  });
}

void Agent::Impl::on(UpdateReady& event) {
  if (!training_ || training_->token != event.token) return;
  if (!residual_is_being_stored()) return trained(event);
  waiting_update_ = std::move(event);
}

// Nothing can be sent before the residual is stored: waiting costs no time, and saves its copy.
void Agent::Impl::take_waiting_update() {
  if (!waiting_update_ || residual_is_being_stored()) return;
  UpdateReady update = std::move(*waiting_update_);
  waiting_update_.reset();
  if (training_ && training_->token == update.token) trained(update);
}

void Agent::Impl::trained(UpdateReady& event) {
  const Training training = *std::exchange(training_, std::nullopt);
  const RoundKey id = training.plan->key();
  const bool in_time = round_ && round_->rank() && round_->key().round == id.round;
  Status status;
  if (!event.update || event.update->size() != job_->values()) {
    status = Status(StatusCode::mismatch, {.what = "update of the trainer",
                                           .expected = fmt::format("{} values", job_->values()),
                                           .got = "another number",
                                           .remedy = "train the job's model"});
  } else if (first_not_finite(*event.update)) {
    status = not_finite_error(*event.update);
  }
  if (!status.ok()) {
    note(LogLevel::error, "update_refused", name(status.code()), status.text());
    if (in_time) return withdraw(wire::AbortReason::not_finite, status);
    return start_work();
  }
  take_update(training, event);
  if (in_time && !round_->withdrawn) {
    round_->working = true;
    return encode_all();
  }
  save_late_update(id);
  start_work();
}

// The residual takes it whole, before anything of it is sent. What belongs to a codec that does not
// conserve stays outside: it is sent as it is, or not at all.
void Agent::Impl::take_update(const Training& training, UpdateReady& event) {
  const auto weight = static_cast<float>(training.plan->wire().weight);
  const double update_norm = norm_of(*event.update);
  const std::uint64_t missing = residual_.missing(training.plan->key().round);
  if (!training.plan->conserves()) {
    FloatVector& update = own(event.update);
    std::fill(update.begin() + static_cast<std::ptrdiff_t>(missing), update.end(), 0.0f);
    take_beside_residual(training, update);
    for (float& value : update) value *= weight;
    update_ = std::move(event.update);
  } else if (missing < job_->values()) {
    residual_.add(0, std::span<const float>(*event.update).first(missing), weight);
  } else {
    residual_.add(std::move(event.update), weight);
  }
  residual_.took_update(training.plan->key().round);
  measured_ = {.loss = event.loss,
               .examples = event.examples,
               .local_steps = event.local_steps,
               .compute_s = event.compute_s,
               .update_norm = update_norm,
               .metrics = event.metrics};
}

// What of the update is for buckets that keep a residual, where others do not.
void Agent::Impl::take_beside_residual(const Training& training, std::span<const float> update) {
  const auto weight = static_cast<float>(training.plan->wire().weight);
  std::uint64_t at = 0;
  for (const PlannedBucket& bucket : training.plan->buckets()) {
    if (bucket.keeps_residual()) continue;
    residual_.add(at, update.subspan(at, bucket.first_value - at), weight);
    at = bucket.first_value + bucket.values;
  }
  residual_.add(at, update.subspan(at), weight);
}

void Agent::Impl::save_late_update(const RoundKey& id) {
  store_.push(ContributionRecord{.id = id,
                                 .agent_index = member_,
                                 .residual = residual_.shared(),
                                 .residual_stamp = residual_.stamp(),
                                 .parts = {}});
}

void Agent::Impl::withdraw(wire::AbortReason reason, const Status& status) {
  round_->withdrawn = true;
  if (!talk_) return;
  talk_->ask(
      now_,
      [key = round_->key(), reason, text = status.text(), version = version_, hash = model_hash_] {
        wire::AbortT abort;
        abort.id = std::make_unique<wire::RoundId>(wire_id(key));
        abort.first_round = key.round;
        abort.reason = reason;
        abort.text = text.substr(0, wire::kTextBytesMax);
        abort.roll_back_version = version;
        abort.roll_back_hash = hash;
        return frame_with(std::move(abort));
      },
      out_);
}

// --- contributing ------------------------------------------------------------------------------

std::span<const float> Agent::Impl::input_of(const PlannedBucket& bucket) {
  if (bucket.keeps_residual()) return residual_.run(bucket.first_value, bucket.values);
  return std::span<const float>(*update_).subspan(bucket.first_value, bucket.values);
}

bool Agent::Impl::has_input(const PlannedBucket& bucket) const {
  if (!round_->rank()) return false;
  return round_->working || (round_->plan().conserves() &&
                             residual_.missing(round_->key().round) <= bucket.first_value);
}

// Of an update of which the last part is there.
void Agent::Impl::encode_ready() {
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    if (has_input(bucket)) encode(bucket.index);
  }
  save_contributions();
}

void Agent::Impl::encode_all() {
  round_->residual_stored = false;
  for (std::uint32_t i = 0; i < round_->work().size(); ++i) encode(i);
  save_contributions();
  report();
  if (talk_) {
    round_->ask_wait_ns = 8 * talk_->times().ack_timeout_ns;
    round_->ask_at_ns = now_ + round_->ask_wait_ns;
  }
}

void Agent::Impl::encode(std::uint32_t number) {
  if (!config_.stopwatch) return encode_stages(number);
  const TimeNs began_at = config_.stopwatch();
  encode_stages(number);
  round_->encode_ns += config_.stopwatch() - began_at;
}

// As many as can be encoded by what has come back.
void Agent::Impl::encode_stages(std::uint32_t number) {
  const PlannedBucket& bucket = round_->plan().buckets()[number];
  BucketWork& work = round_->work()[number];
  while (!work.failed && work.encoded < bucket.stages() && work.encoded <= work.combined.size() &&
         work.combined.size() < bucket.stages()) {
    if (Status status = encode_stage(bucket, work, work.encoded); !status.ok()) {
      work.failed = true;
      note(LogLevel::error, "bucket_not_encoded", name(status.code()),
           fmt::format("bucket {}: {}", number, status.text()));
      if (!round_->withdrawn) withdraw(wire::AbortReason::failure, status);
      return;
    }
    ++work.encoded;
  }
}

Status Agent::Impl::encode_stage(const PlannedBucket& bucket, BucketWork& work,
                                 std::uint32_t stage) {
  const std::vector<ByteSpan> combined = work.spans(stage);
  const StageCall call = {.round = round_->plan().context(bucket, *round_->rank()),
                          .execution = config_.execution,
                          .combined = combined};
  Bytes payload;
  const std::span<const float> input = input_of(bucket);
  TRIBUTARY_TRY(encoders_.get(bucket, round_->key().epoch).encode(call, input, payload));
  if (payload.empty() || stage < work.combined.size()) return {};
  auto shared = std::make_shared<const Bytes>(std::move(payload));
  if (stage < bucket.last_stage()) {
    round_->outgoing.add(bucket.index, stage, CutPayload(std::move(shared), bucket.part_bytes));
    return {};
  }
  ContributionPart part{.bucket = bucket.index,
                        .first_value = bucket.first_value,
                        .values = bucket.values,
                        .if_committed = nullptr};
  if (bucket.keeps_residual()) {
    if (bucket.keeps_error()) {
      auto left = std::make_shared<FloatVector>(bucket.values);
      scratch_.resize(bucket.values);
      TRIBUTARY_TRY(bucket.codec->decode(call, *shared, scratch_));
      keep_residual(input, scratch_, *left);
      part.if_committed = std::move(left);
    }
    residual_.open(round_->key(), *round_->member(), part);
    round_->unsaved.push_back(std::move(part));
  }
  work.contributed = true;
  round_->unsent.emplace_back(bucket.index, CutPayload(std::move(shared), bucket.part_bytes));
  return {};
}

// What is sent may count without this agent learning of it: so what it would leave behind is stored
// first. Buckets that are ready together are stored together.
void Agent::Impl::save_contributions() {
  if (!round_ || round_->saving || round_->unsent.empty()) return;
  const RoundKey id = round_->key();
  ContributionRecord record{.id = id,
                            .agent_index = *round_->member(),
                            .residual = nullptr,
                            .residual_stamp = residual_.stamp(),
                            .parts = std::exchange(round_->unsaved, {})};
  if (record.parts.empty()) return send(std::exchange(round_->unsent, {}));
  if (!round_->residual_stored) record.residual = residual_.shared();
  round_->residual_stored = true;
  round_->saving = true;
  round_->storing = std::exchange(round_->unsent, {});
  store_.push(std::move(record), [this, id] {
    if (!round_ || round_->key() != id) return;
    round_->saving = false;
    send(std::exchange(round_->storing, {}));
    save_contributions();
    report();
  });
}

void Agent::Impl::send(AgentRound::LastPayloads&& payloads) {
  for (auto& [bucket, payload] : payloads) {
    const std::uint32_t stage = round_->plan().buckets()[bucket].last_stage();
    if (round_->work()[bucket].combined.size() > stage) continue;  // closed meanwhile
    round_->outgoing.add(bucket, stage, std::move(payload));
  }
}

void Agent::Impl::pump_payloads() {
  if (!round_ || !talk_) return;
  round_->outgoing.pump(
      now_, 4 * talk_->times().ack_timeout_ns,
      [this](std::uint32_t bucket, std::uint32_t stage, const CutPayload& payload,
             std::uint32_t part) {
        const RoundKey& key = round_->key();
        round_->bytes_up += payload.layout().size(part);
        if (stage < round_->plan().buckets()[bucket].last_stage()) {
          wire::PreliminaryT wire;
          wire.part = payload.describe(key, bucket, stage, part);
          wire.agent_index = *round_->member();
          talk_->send(now_, frame_with(std::move(wire)), payload.slice(part), out_);
        } else {
          wire::UpdateT wire;
          wire.part = payload.describe(key, bucket, stage, part);
          wire.agent_index = *round_->member();
          wire.weight = round_->plan().wire().weight;
          talk_->send(now_, frame_with(std::move(wire)), payload.slice(part), out_);
        }
      },
      [this](std::uint32_t bucket, std::uint32_t stage, const CutPayload& payload) {
        wire::ReceiptT waits;
        waits.id = std::make_unique<wire::RoundId>(wire_id(round_->key()));
        waits.bucket = bucket;
        waits.stage = static_cast<std::uint8_t>(stage);
        waits.waiting_bytes = payload.layout().bytes;
        talk_->send(now_, frame_with(std::move(waits)), out_);
      });
}

void Agent::Impl::receive_receipt(const wire::Receipt& receipt) {
  if (!round_ || round_->key() != tributary::key_of(*receipt.id())) return;
  round_->outgoing.receipt(now_, 4 * talk_->times().ack_timeout_ns, receipt);
}

// --- results -----------------------------------------------------------------------------------

void Agent::Impl::receive_aggregate(const wire::Aggregate& aggregate, ByteSpan payload) {
  const RoundKey key = tributary::key_of(*aggregate.part()->id());
  if (!round_ || round_->key() != key) {
    // Of a round that is over here, or that has not begun: what is lacking later is asked for.
    return note(LogLevel::debug, "payload_late", "wrong_epoch", text(key));
  }
  round_->bytes_down += payload.size();
  const std::uint32_t bucket = aggregate.part()->bucket();
  const Result<bool> whole = round_->take(*aggregate.part(), payload);
  if (!whole.ok()) return refuse_frame(name(whole.status().code()), whole.status().text());
  if (!*whole) return ask_for_more(bucket);
  const auto closed = static_cast<std::uint32_t>(round_->work()[bucket].combined.size());
  round_->outgoing.cancel(bucket, closed - 1);
  if (has_input(round_->plan().buckets()[bucket]) && !round_->withdrawn) {
    encode(bucket);
    save_contributions();
    report();
  }
  if (commit_) try_commit();
}

// Where aggregates are not pushed: keeps a few parts of each under way, as long as they come.
void Agent::Impl::ask_for_more(std::uint32_t bucket) {
  const std::uint32_t window = round_->plan().wire().aggregate_parts_max;
  if (window == 0 || !talk_) return;
  if (std::optional<wire::ReceiptT> more = round_->more(bucket, window)) {
    talk_->send(now_, frame_with(std::move(*more)), out_);
  }
  if (round_->ask_at_ns != kNever) round_->ask_at_ns = now_ + talk_->times().ack_timeout_ns;
}

void Agent::Impl::receive_commit(const wire::Commit& commit) {
  if (!job_ || commit.id()->job() != job_->job() || !model_) return;
  if (commit.rounds()->size() != 1) return refuse_frame("unsupported", "a batch of rounds");
  if (commit.model_version() <= version_) {
    if (commit.model_version() == version_ && store_.empty()) {
      send_applied(tributary::key_of(*commit.id()), model_hash_);
    }
    return;
  }
  if (commit.model_version() != version_ + 1) {
    return refuse_frame("mismatch", "a commit of a round that is too far ahead");
  }
  commit_ = std::make_unique<wire::CommitT>();
  commit.UnPackTo(commit_.get());
  try_commit();
}

// Applies the commit if its plan and all of its aggregates are here, and asks for what is not.
void Agent::Impl::try_commit() {
  if (!commit_ || !round_ || round_->key() != key_of(*commit_) || transfer_requested_) return;
  if (commit_->model_version != version_ + 1) return commit_.reset();
  const wire::RoundOutcomeT& outcome = *commit_->rounds[0];
  if (has_everything(outcome)) return apply_commit(outcome);
  if (!talk_ || round_->ask_wait_ns == talk_->times().ack_timeout_ns) return;
  // Parts that were sent before the commit may still be on their way, if any came at all.
  const bool some = round_->bytes() > 0;
  round_->ask_wait_ns = talk_->times().ack_timeout_ns;
  round_->ask_at_ns = some ? now_ + round_->ask_wait_ns : now_;
}

bool Agent::Impl::has_everything(const wire::RoundOutcomeT& outcome) {
  bool all = true;
  for (const auto& one : outcome.outcomes) {
    if (one->bucket >= round_->work().size()) return false;
    BucketWork& work = round_->work()[one->bucket];
    if (work.combined.size() < round_->plan().buckets()[one->bucket].stages()) {
      all = false;
    } else if (hash64(*work.combined.back()) != one->result_hash) {
      refuse_frame("mismatch", "an aggregate that is not the commit's");
      work.combined.clear();
      all = false;
    }
  }
  return all;
}

void Agent::Impl::ask_for_missing() {
  if (!round_ || !talk_ || now_ < round_->ask_at_ns) return;
  constexpr std::size_t kAskedMax = 64;
  std::size_t asked = 0;
  const bool decided = commit_ && round_->key() == key_of(*commit_);
  for (std::uint32_t bucket = 0; bucket < round_->work().size() && asked < kAskedMax; ++bucket) {
    const bool counts =
        !decided || std::ranges::any_of(commit_->rounds[0]->outcomes, [&](const auto& outcome) {
          return outcome->bucket == bucket;
        });
    if (!counts) continue;
    if (std::optional<wire::ReceiptT> missing = round_->missing(bucket)) {
      if (const std::uint32_t window = round_->plan().wire().aggregate_parts_max; window > 0) {
        missing->missing.resize(1);
        const wire::Range& first = missing->missing[0];
        missing->missing[0] = wire::Range(first.first(), std::min(first.count(), window));
      }
      talk_->send(now_, frame_with(std::move(*missing)), out_);
      ++asked;
    }
  }
  round_->ask_at_ns = now_ + round_->ask_wait_ns;
  round_->ask_wait_ns = std::min(2 * round_->ask_wait_ns, talk_->times().heartbeat_timeout_ns);
}

// --- commit ------------------------------------------------------------------------------------

// The buckets in which this agent counts.
Bitmap Agent::Impl::contributed(const wire::RoundOutcomeT& outcome) const {
  Bitmap counted(round_->work().size());
  const UndecidedRound* mine = residual_.find(round_->key());
  std::optional<std::uint32_t> member = round_->member();
  if (mine) member = mine->agent_index;
  if (!member) return counted;
  for (const auto& one : outcome.outcomes) {
    const wire::ContributorSetT& set = *outcome.contributor_sets[one->contributor_set];
    if (Bitmap(set.bits, commit_->agents).test(*member)) counted.set(one->bucket);
  }
  return counted;
}

// Those who only follow remember the same as those who took part.
void Agent::Impl::settle_encoders(const wire::RoundOutcomeT& outcome, const Bitmap& counted) {
  std::vector<ByteSpan> none;
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    const bool committed = std::ranges::any_of(
        outcome.outcomes, [&](const auto& one) { return one->bucket == bucket.index; });
    const BucketWork& work = round_->work()[bucket.index];
    encoders_.get(bucket, round_->key().epoch)
        .settle(committed ? work.spans(bucket.stages()) : none,
                committed && counted.test(bucket.index));
  }
}

Status Agent::Impl::apply_outcome(const wire::RoundOutcomeT& outcome, FloatVector& model) {
  std::vector<CommittedBucket> buckets;
  for (const auto& one : outcome.outcomes) {
    const wire::ContributorSetT& set = *outcome.contributor_sets[one->contributor_set];
    const std::uint32_t stages = round_->plan().buckets()[one->bucket].stages();
    buckets.push_back({.bucket = one->bucket,
                       .divisor = set.divisor,
                       .contributors = set.contributors,
                       .combined = round_->work()[one->bucket].spans(stages)});
  }
  return apply_round(round_->plan(), buckets, config_.execution, *rule_, scratch_, model);
}

void Agent::Impl::apply_commit(const wire::RoundOutcomeT& outcome) {
  Status status;
  if (commit_->previous_hash == model_hash_) {
    status = apply_outcome(outcome, own(model_));
  } else {
    status =
        Status(StatusCode::mismatch, {.what = "model before the commit",
                                      .expected = fmt::format("{:016x}", commit_->previous_hash),
                                      .got = fmt::format("{:016x}", model_hash_),
                                      .remedy = {}});
  }
  const std::uint64_t hash = model_hash_of(*model_);
  if (!status.ok() || hash != commit_->model_hash) {
    note(LogLevel::error, "replica_diverged", "mismatch",
         status.ok() ? "the model after the commit is another" : status.text());
    lose_model();
    return request_transfer(wire::TransferReason::diverged);
  }
  const Bitmap counted = contributed(outcome);
  settle_encoders(outcome, counted);
  residual_.settle(round_->key(), counted);
  committed(hash);
}

// It is neither that of its version nor that of the next: what is in memory of it is of no use.
void Agent::Impl::lose_model() {
  model_.reset();
  commit_.reset();
}

void Agent::Impl::committed(std::uint64_t hash) {
  const RoundKey id = round_->key();
  const TimeNs waited = round_->reported ? now_ - round_->reported_at_ns : 0;
  before_ = {.bytes_up = round_->bytes_up,
             .bytes_down = round_->bytes_down,
             .wait_s = static_cast<double>(waited) / 1e9};
  model_hash_ = hash;
  version_ = id.round;
  residual_.belongs_to(version_);
  round_.reset();
  commit_.reset();
  update_.reset();
  store_.push(replica_record(), [this, id, hash] { send_applied(id, hash); });
}

void Agent::Impl::send_applied(const RoundKey& id, std::uint64_t hash) {
  if (!talk_) return;
  talk_->ask(
      now_,
      [id, hash] {
        wire::AppliedT applied;
        applied.id = std::make_unique<wire::RoundId>(wire_id(id));
        applied.model_version = id.round;
        applied.model_hash = hash;
        return frame_with(std::move(applied));
      },
      out_);
}

}  // namespace tributary
