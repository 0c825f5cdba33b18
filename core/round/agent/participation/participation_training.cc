// The part of Participation that obtains the update of the current round, whole or in parts.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/round/agent/participation/participation.h"

namespace tributary {
namespace {

// A norm bounds every value, and it is computed for the report anyway.
Status check(const UpdateReady& event, std::uint64_t values, const RoundPlan& plan, double norm) {
  const std::size_t size = event.on_device ? event.on_device->size()
                           : event.update  ? event.update->size()
                                           : 0;
  if (size != values) {
    return Status(StatusCode::mismatch, {.what = "update of the trainer",
                                         .expected = fmt::format("{} values", values),
                                         .got = "another number",
                                         .remedy = "train the job's model"});
  }
  if (!std::isfinite(norm)) return not_finite_error(*event.update);
  const double norm_max = update_norm_max(plan.agents());
  if (norm * plan.wire().weight <= norm_max) return {};
  return Status(StatusCode::not_finite,
                {.what = "norm of the update",
                 .expected = fmt::format("up to {:.3g}, so that a sum over {} agents stays finite",
                                         norm_max, plan.agents()),
                 .got = fmt::format("{:.3g}", norm),
                 .remedy = "lower the learning rate or clip the gradient; nothing was sent"});
}

// A change of the residual while it is being stored would copy it.
bool is_being_stored(const AgentContext& context, LocalUpdates& updates) {
  return !context.store.empty() && updates.residual().held();
}

Status copy_to_host(UpdateReady& event) {
  auto values = std::make_shared<FloatVector>(event.on_device->size());
  TRIBUTARY_TRY(event.on_device->read(0, *values));
  event.update = std::move(values);
  event.on_device.reset();
  return {};
}

// The norm of the update, after the job's bound on it. An update on a device is copied to the host
// unless it may stay there.
Result<double> norm_of_update(UpdateReady& event, double norm_max, bool may_stay,
                              const Execution& execution) {
  if (event.on_device) {
    if (may_stay && norm_max <= 0) {
      Result<double> norm = event.on_device->norm();
      if (norm.ok() && std::isfinite(*norm)) return norm;
      if (!norm.ok()) execution.device->report(norm.status());
    }
    TRIBUTARY_TRY(copy_to_host(event));
  }
  return event.update ? bound_norm(event.update, norm_max) : 0;
}

}  // namespace

void Participation::start_work() {
  if (!round_ || !parts_.replica.model() || !round_->rank() || round_->working() ||
      round_->withdrawn() || training_.running()) {
    return;
  }
  if (!parts_.updates.has_update_of(round_->plan())) return train();
  round_->begin_work(parts_.updates.residual().stamp().update_round);
  contribute();
}

void Participation::train() {
  const bool ahead = training_.start(round_->shared_plan(), exchange_.index(),
                                     parts_.replica.version(), ahead_.model());
  if (ahead) round_->mechanisms().trained_ahead = 1;
}

// --- parts -------------------------------------------------------------------------------------

// A part only allows earlier sending. If it cannot be used, it is ignored, because the whole update
// follows.
void Participation::take_part(const UpdatePart& event) {
  const LocalTraining::Running* training = training_.expected(event.token);
  if (!training || training->exchange > 0) return;
  const RoundPlan& plan = *training->plan;
  if (!round_ || !round_->rank() || round_->withdrawn() ||
      round_->key().round != plan.key().round) {
    return;
  }
  // A bound on the whole update needs the whole update. Several exchanges of a round train on
  // different models. A profile needs the time of the exchange alone.
  const bool alone = round_->plan().by_peers() && round_->plan().wire().profile_requested;
  if (alone || round_->plan().in_network() || round_->plan().exchanges() > 1 || !plan.conserves() ||
      !round_->plan().conserves() || parts_.replica.job()->wire().norm_max() > 0 ||
      is_being_stored(context_, parts_.updates)) {
    return;
  }
  contribution_.finish_encoding();
  if (!parts_.updates.take_part(plan, round_->plan(), event)) return;
  if (round_->plan().by_peers()) {
    exchange_.start_early();
  } else {
    contribution_.encode_ready();
  }
}

// --- the whole update --------------------------------------------------------------------------

void Participation::take(UpdateReady& event) {
  if (training_.take_ahead(event)) return;
  if (!training_.expected(event.token)) return;
  if (is_being_stored(context_, parts_.updates)) return training_.keep(std::move(event));
  trained(event);
}

// Takes the update when the residual is stored. The wait costs no time, because nothing can be sent
// before that.
void Participation::take_kept_update() {
  if (!training_.keeps() || is_being_stored(context_, parts_.updates)) return;
  if (std::optional<UpdateReady> update = training_.release()) trained(*update);
}

void Participation::failed(const UpdateFailed& event) {
  if (training_.ahead_failed(event.token)) return;
  if (!training_.expected(event.token)) return;
  const RoundKey id = training_.end().plan->key();
  if (round_ && round_->key().round == id.round) {
    withdrawal_.withdraw(*round_, abort_reason_of(event.status), event.status);
  } else {
    start_work();
  }
}

// A residual of this size can only come from an earlier version of the agent or from a round with
// fewer agents. Contributions that are undecided keep it.
void Participation::drop_if_too_large(const RoundPlan& plan) {
  const ResidualAccount& residual = parts_.updates.residual();
  if (!residual.undecided().empty() || residual.norm() <= update_norm_max(plan.agents())) return;
  parts_.updates.mark_all();
  drop_marked(plan.key());
}

void Participation::trained(UpdateReady& event) {
  contribution_.finish_encoding();
  // The bound concerns the raw update: a residual of rounds that this agent has missed is no fault.
  // All that is done with an update on a device must be possible there.
  const bool may_stay = training_.running()->exchange == 0 &&
                        parts_.updates.can_stay_on_device(*training_.running()->plan);
  const Result<double> norm = norm_of_update(event, parts_.replica.job()->wire().norm_max(),
                                             may_stay, context_.config.execution);
  if (!norm.ok()) return failed({.token = event.token, .status = norm.status()});
  const LocalTraining::Running training = training_.end();
  const RoundKey id = training.plan->key();
  const bool in_time = round_ && round_->rank() && round_->key().round == id.round &&
                       (training.exchange == 0 || round_->key() == id);
  Status status = check(event, parts_.replica.job()->values(), *training.plan, *norm);
  if (status.ok()) {
    drop_if_too_large(*training.plan);
    // A late update is taken as well: its work is not lost, but becomes part of a later round.
    status = take_update(training, event, *norm);
  }
  if (!status.ok()) {
    context_.out.note(LogLevel::error, "update_refused", name(status.code()), status.text());
    if (!in_time) return start_work();
    return withdrawal_.withdraw(*round_, abort_reason_of(status), status);
  }
  if (in_time && !round_->withdrawn()) {
    if (training.exchange > 0) return exchange_.start();
    round_->begin_work(id.round);
    return contribute();
  }
  // The current round sends it, or a later one.
  start_work();
  if (!round_ || !round_->working()) store_late_update(id);
}

// Adds the update to the residual, before any part of it is sent. Returns an error if it is lost
// with its device.
Status Participation::take_update(const LocalTraining::Running& training, UpdateReady& event,
                                  double norm) {
  const RoundPlan& plan = *training.plan;
  if (event.on_device) {
    const Status taken = parts_.updates.take_on_device(plan, event.on_device);
    if (!taken.ok()) {
      context_.config.execution.device->report(taken);
      TRIBUTARY_TRY(copy_to_host(event));
    }
  }
  if (training.exchange > 0 && round_ && round_->key() == plan.key() && ahead_.begun()) {
    ahead_.add_to_input(*event.update, static_cast<float>(plan.wire().weight));
  }
  if (event.update) parts_.updates.take(plan, training.exchange, std::move(event.update));
  reporter_.measured(event, norm);
  reporter_.measure_ready(plan, event, parts_.replica.job()->layers());
  return {};
}

void Participation::store_late_update(const RoundKey& id) {
  const ResidualAccount& residual = parts_.updates.residual();
  context_.store.push(ContributionRecord{.id = id,
                                         .agent_index = parts_.peers.member(),
                                         .residual = residual.shared(),
                                         .residual_stamp = residual.stamp(),
                                         .parts = {}});
}

}  // namespace tributary
