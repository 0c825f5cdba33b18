// How an agent gets the update of a round, whole or in parts, and what it does where there is none.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/copy_on_write.h"
#include "core/codec/finite.h"
#include "core/round/agent_impl.h"
#include "core/update/norm.h"
#include "core/update/update_vector.h"

namespace tributary {

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
  // Peers add in one order, whatever is ready first.
  if (round_->plan().by_peers() || !plan.conserves() || !round_->plan().conserves() ||
      residual_is_being_stored())
    return;
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

// The residual takes what it has not taken in parts, before anything of that is sent. What belongs
// to a codec that does not conserve stays outside: it is sent as it is, or not at all.
void Agent::Impl::take_update(const Training& training, UpdateReady& event) {
  const auto weight = static_cast<float>(training.plan->wire().weight);
  const double update_norm = norm_of(*event.update);
  const std::uint64_t missing = residual_.missing(training.plan->key().round);
  if (!training.plan->conserves()) {
    FloatVector& update = own(event.update);
    std::fill(update.begin() + static_cast<std::ptrdiff_t>(missing), update.end(), 0.0f);
    take_beside_residual(*training.plan, update, weight);
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
void Agent::Impl::take_beside_residual(const RoundPlan& plan, std::span<const float> update,
                                       float weight) {
  std::uint64_t at = 0;
  for (const PlannedBucket& bucket : plan.buckets()) {
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

}  // namespace tributary
