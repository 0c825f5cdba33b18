// An agent's part in the rounds: the plan, and what it contributes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/codec/error_feedback.h"
#include "core/codec/payload.h"
#include "core/round/agent_impl.h"
#include "core/round/upload.h"

namespace tributary {

// --- plans -------------------------------------------------------------------------------------

void Agent::Impl::receive_membership(const wire::Membership& membership) {
  if (!job_ || membership.job() != job_->job() || membership.epoch() <= epoch_) return;
  epoch_ = membership.epoch();
  member_ = membership.agent_index();
  open_peers(membership);
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
  const bool begins = can_begin(**made);
  auto round = std::make_unique<AgentRound>(std::move(*made));
  if (begins) return begin_round(std::move(round));
  // A later attempt replaces those before it.
  std::erase_if(next_rounds_, [&](const auto& next) {
    return next.first.round == key.round && next.first < key;
  });
  next_rounds_.try_emplace(key, std::move(round));
  if (next_rounds_.size() > kNextRoundsMax) next_rounds_.erase(std::prev(next_rounds_.end()));
}

// One that is only followed needs no epoch: it is there to be able to read a commit. So is one of
// an epoch that has ended since the plan came, and one that is committed already.
bool Agent::Impl::can_begin(const RoundPlan& plan) const {
  const bool committed = commit_ && tributary::key_of(*commit_->id) == plan.key();
  return model_ && !transfer_requested_ && plan.wire().model_version == version_ &&
         (plan.wire().weight == 0 || plan.key().epoch <= epoch_ || committed);
}

void Agent::Impl::try_next_round() {
  if (!model_) return;
  std::erase_if(next_rounds_, [this](const auto& next) { return next.first.round <= version_; });
  const auto next = std::ranges::find_if(
      next_rounds_, [this](const auto& one) { return can_begin(one.second->plan()); });
  if (next != next_rounds_.end()) begin_round(std::move(next_rounds_.extract(next).mapped()));
}

void Agent::Impl::begin_round(std::unique_ptr<AgentRound> round) {
  const RoundPlan& plan = round->plan();
  if (plan.wire().model_hash != model_hash_) {
    note(LogLevel::error, "replica_diverged", "mismatch", "the plan's model is another");
    return request_transfer(wire::TransferReason::diverged);
  }
  close_round();
  // A new try at a round says that the ones before came to nothing.
  const RoundKey key = plan.key();
  for (const UndecidedRound& undecided : std::vector(residual_.undecided())) {
    if (undecided.id.round == key.round && undecided.id < key) {
      residual_.settle_excluded(undecided.id);
    }
  }
  const bool takes_part = plan.wire().weight > 0 && key.epoch == epoch_ &&
                          member_ < plan.members() && plan.participants().test(member_);
  if (takes_part && residual_.undecided().empty()) {
    residual_.rescale_to(plan.wire().learning_rate, job_->gradient());
  }
  if (takes_part) round->take_part_as(member_);
  round_ = std::move(round);
  round_->outgoing.begin(round_->plan().wire().payloads_in_flight_max == 0);
  if (talk_) {
    limit_upload(round_->plan(), std::max(round_->plan().wire().payloads_in_flight_max, 1u),
                 *talk_);
  }
  start_work();
  try_commit();
}

// The round is over without a commit that this agent has: what it sent stays in the residual.
void Agent::Impl::close_round() {
  if (!round_) return;
  end_trials();
  residual_.settle_excluded(round_->key());
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    if (round_->work()[bucket.index].encoded == 0) continue;
    if (Encoder* encoder = encoders_.find(bucket)) encoder->settle({}, false);
  }
  if (round_->plan().by_peers()) peer_shelf_.clear();  // it remembers what came to nothing
  if (round_->plan().exchanges() > 1) {
    encoders_.clear();
    // A second crash must not cost another batch.
    if (round_->exchange > 0 && !round_->prepared) save_late_update(round_->key());
  }
  drop_round();
}

// What has not been sent of this round is not wanted any more.
void Agent::Impl::drop_round() {
  if (round_ && talk_) round_->outgoing.stop_all(upload());
  round_.reset();
}

void Agent::Impl::receive_abort(const wire::Abort& abort) {
  const RoundKey key = tributary::key_of(*abort.id());
  next_rounds_.erase(key);
  if (round_ && round_->key() == key) {
    close_round();
  } else {
    residual_.settle_excluded(key);
  }
}

// --- contributing ------------------------------------------------------------------------------

std::span<const float> Agent::Impl::input_of(const PlannedBucket& bucket) {
  if (bucket.exchange > 0) {
    return std::span<const float>(*round_->ahead->input).subspan(bucket.first_value, bucket.values);
  }
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
  measure_gain();
  begin_trials();
  if (round_->plan().by_peers()) return begin_exchange();
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
                          .combined = combined,
                          .keep = bucket.keep};
  Bytes payload;
  const std::span<const float> input = input_of(bucket);
  TRIBUTARY_TRY(encoders_.get(bucket, round_->key().epoch).encode(call, input, payload));
  if (payload.empty() || stage < work.combined.size()) return {};
  auto shared = std::make_shared<const Bytes>(std::move(payload));
  if (stage < bucket.last_stage()) {
    round_->outgoing.add(bucket.index, stage, std::move(shared));
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
  round_->unsent.emplace_back(bucket.index, std::move(shared));
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

// Only while there is a round and a session.
Outgoing::Session Agent::Impl::upload() {
  return upload_session({.now = now_,
                         .session = *talk_,
                         .plan = round_->plan(),
                         .member = round_->member().value_or(0),
                         .weight = round_->plan().wire().weight,
                         .out = out_,
                         .bytes_up = round_->bytes_up});
}

void Agent::Impl::pump_payloads() {
  if (!round_ || !talk_) return;
  round_->outgoing.pump(now_, 4 * talk_->times().ack_timeout_ns, upload());
}

void Agent::Impl::receive_receipt(const wire::Receipt& receipt) {
  if (!round_ || round_->key() != tributary::key_of(*receipt.id())) return;
  limit_upload(round_->plan(), receipt.payloads_in_flight_max(), *talk_);
  round_->outgoing.receipt(now_, 4 * talk_->times().ack_timeout_ns, receipt, upload());
}

}  // namespace tributary
