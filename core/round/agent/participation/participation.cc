#include "core/round/agent/participation/participation.h"

#include <algorithm>
#include <utility>

#include "core/round/agent/round/layer_bits.h"
#include "core/round/common/plan/standalone_payload.h"

namespace tributary {
namespace {

// The buckets in which this agent's contribution counts.
Bitmap counted_in(const wire::CommitT& commit, const AgentRound& round,
                  const ResidualAccount& residual) {
  const wire::RoundOutcomeT& outcome = *commit.rounds[0];
  Bitmap counted(round.work().size());
  const UndecidedRound* given = residual.find(round.key());
  const std::optional<std::uint32_t> member = given ? given->agent_index : round.member();
  if (!member) return counted;
  for (const auto& each : outcome.outcomes) {
    const wire::ContributorSetT& set = *outcome.contributor_sets[each->contributor_set];
    if (Bitmap(set.bits, commit.agents).test(*member)) counted.set(each->bucket);
  }
  return counted;
}

}  // namespace

Participation::Participation(AgentContext& context, const Parts& parts)
    : context_(context),
      parts_(parts),
      withdrawal_(parts.session),
      training_(context),
      reporter_(context, parts.session),
      upload_(context, parts.session),
      network_(context, {.upload = upload_, .withdrawal = withdrawal_}, [this] { report(); }),
      contribution_(context,
                    {.replica = parts.replica,
                     .updates = parts.updates,
                     .encoders = encoders_,
                     .upload = upload_,
                     .network = network_,
                     .withdrawal = withdrawal_,
                     .scratch = scratch_},
                    [this] { report(); }),
      ahead_(context, parts.replica, encoders_, scratch_),
      exchange_(context,
                {.peers = parts.peers,
                 .updates = parts.updates,
                 .encoders = encoders_,
                 .ahead = ahead_,
                 .upload = upload_,
                 .withdrawal = withdrawal_},
                [this] { report(); }),
      work_ahead_(context,
                  {.replica = parts.replica,
                   .contribution = contribution_,
                   .exchange = exchange_,
                   .withdrawal = withdrawal_,
                   .ahead = ahead_,
                   .training = training_},
                  [this] { report(); }) {}

void Participation::begin_job() {
  contribution_.finish_encoding();
  end_round();
  training_.forget();
  contribution_.forget();
  encoders_.clear();
}

// --- the round ---------------------------------------------------------------------------------

void Participation::begin(AgentRound& round) {
  round_ = &round;
  contribution_.begin(round);
  exchange_.begin(round);
  network_.begin(round);
  upload_.begin(round);
  work_ahead_.begin(round);
  start_work();
}

// The round ends without this agent's contribution. The update is not lost: the next attempt or
// round sends it without training again.
void Participation::close() {
  if (!round_) return;
  contribution_.finish_encoding();
  training_.forget_ahead();  // its model is not committed
  reporter_.end_trials();
  parts_.updates.residual().settle_excluded(round_->key());
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    if (round_->work()[bucket.index].encoded == 0) continue;
    if (Encoder* encoder = encoders_.find(bucket)) encoder->settle({}, false);
  }
  if (round_->plan().by_peers()) {
    parts_.peers.clear_cache();
  } else {
    contribution_.failed();
  }
  if (round_->plan().exchanges() > 1) {
    encoders_.clear();
    // Stores the updates of finished exchanges, so that a crash after this does not lose them.
    if (exchange_.index() > 0) store_late_update(round_->key());
  }
  drop();
}

void Participation::drop() {
  contribution_.finish_encoding();
  const RoundKey id = round_ ? round_->key() : RoundKey{};
  end_round();
  drop_marked(id);
}

// The coordinator has found that this agent's numbers cannot be added. They are dropped when the
// round is settled, because a bucket of it may still count.
void Participation::exclude(const RoundKey& key) {
  parts_.updates.mark_all();
  if (!round_) return drop_marked(key);
  if (round_->key() == key) round_->withdraw();
}

// Requires that the round with these values is settled.
void Participation::drop_marked(const RoundKey& id) {
  SharedFloats change = parts_.updates.drop_marked();
  if (!change) return;
  context_.out.note(LogLevel::warning, "residual_dropped", "not_finite",
                    "values that cannot be encoded; the agent goes on without them");
  context_.out.add(ResidualDropped{std::move(change)});
  store_late_update(id);
}

// Encoders survive a round: they hold the memory of codecs such as DGC or PowerSGD. Everything else
// here belongs to one attempt.
void Participation::end_round() {
  contribution_.end();
  exchange_.end();
  network_.end();
  upload_.end();
  work_ahead_.end();
  reporter_.drop_round();
  round_ = nullptr;
}

void Participation::session_opened(std::uint32_t parts_in_flight) {
  if (!round_) return;
  upload_.session_opened(parts_in_flight);
  if (!round_->plan().by_members()) return;
  // The other members wait for the report, or for the withdrawal.
  if (reporter_.forget_report()) report();
  exchange_.withdraw_again();
}

void Participation::go_on(bool after_tick) {
  if (after_tick) step();
  take_kept_update();  // of a training that ended before its round began
  contribution_.go_on();
  follow(exchange_.advance());
  upload_.pump();
}

// --- contribution ------------------------------------------------------------------------------

void Participation::contribute() {
  const RoundPlan& plan = round_->plan();
  // An input on a device is copied only if the plan asks for the gain.
  if (plan.wire().gain_wanted) reporter_.measure_gain(plan, parts_.updates.input_of(plan));
  reporter_.begin_trials(plan, *round_->rank(), [&](const PlannedBucket& bucket) {
    return CodecTrials::Input{
        .values = parts_.updates.input_of(bucket),
        .view = encoder_view(plan, bucket, parts_.replica.rule(), *parts_.replica.model())};
  });
  if (plan.by_peers()) return exchange_.start();
  contribution_.start();
  step();
  parts_.missing.contributed();
}

// Encoding precedes work ahead of the commit, because others wait for it.
void Participation::step() {
  if (contribution_.encoding()) return;
  if (!contribution_.has_more()) return work_ahead_.step();
  contribution_.encode_some();
  if (!contribution_.has_more()) report();
}

void Participation::follow(RoundExchange::Next next) {
  if (next == RoundExchange::Next::trains) train();
}

// An agent that missed the stage still encodes the next one from the combined payload, so a late
// agent can catch up within the round.
void Participation::stage_closed(std::uint32_t bucket) {
  const RoundPlan& plan = round_->plan();
  const auto closed = static_cast<std::uint32_t>(round_->work()[bucket].combined.size());
  // The last stage is also the end for a standalone payload.
  const bool last = closed == plan.buckets()[bucket].stages();
  if (auto payload = upload_.close_stage(bucket, last ? closed : closed - 1)) {
    contribution_.cut_off(std::move(*payload));
  }
  if (plan.by_peers() || round_->withdrawn()) return;
  if (!contribution_.has_input(plan.buckets()[bucket])) return;
  contribution_.encode_next(bucket);
  report();
}

// Reports once per round, when all three conditions hold: every bucket is encoded, the residual
// that a commit would leave is stored, and, among peers or in the network, the exchange has reached
// its result. The report is this agent's vote, so nothing of it may be lost in a crash.
void Participation::report() {
  if (!round_ || !reporter_.can_report() || !round_->working() || round_->withdrawn()) return;
  if (!contribution_.all_stored() || !round_->all_encoded()) return;
  const bool network = round_->plan().in_network();
  if (network && !network_.complete()) return;
  if (round_->plan().by_peers() && !(exchange_.prepared() && work_ahead_.ready_for_vote())) return;
  // The division follows from the combined norms, so it is the same at all participants.
  if (round_->rank() == 0u && parts_.replica.job() != nullptr) {
    round_->mechanisms().millibits_by_layer =
        millibits_by_layer(round_->plan(), parts_.replica.job()->layers(), round_->cost().encoding);
  }
  round_->count_devices(context_.config.execution);
  if (parts_.updates.stays_on_device()) round_->mechanisms().update_on_device = 1;
  if (parts_.replica.steps_on_device()) round_->mechanisms().steps_on_device = 1;
  reporter_.report(*round_,
                   {.model = parts_.replica.id(),
                    .residual_norm = parts_.updates.residual().norm(),
                    .results_hash = network ? network_.results_hash() : exchange_.results_hash(),
                    .sums_check = network ? std::optional(network_.sums_check()) : std::nullopt});
}

// --- commit ------------------------------------------------------------------------------------

// The order matters. The model changes first, because a failure there must leave residual and
// encoders as they were. drop() comes last, because marked values may be dropped only from a
// settled round.
bool Participation::apply(const wire::CommitT& commit) {
  contribution_.finish_encoding();
  if (!make_model(commit)) return false;
  allocations_.note_new(context_);
  ResidualAccount& residual = parts_.updates.residual();
  const Bitmap counted = counted_in(commit, *round_, residual);
  settle_encoders(commit, counted);
  contribution_.committed(counted);
  residual.settle(round_->key(), counted);
  reporter_.committed(*round_);
  residual.belongs_to(parts_.replica.version());
  drop();
  parts_.updates.round_ended(counted.count() > 0);
  return true;
}

bool Participation::make_model(const wire::CommitT& commit) {
  if (ahead_.becomes(commit, *round_)) return parts_.replica.adopt(commit, ahead_.release());
  ahead_.clear();
  training_.forget_ahead();  // from another model
  const wire::RoundOutcomeT& outcome = *commit.rounds[0];
  std::vector<CommittedBucket> buckets;
  for (const auto& bucket : outcome.outcomes) {
    buckets.push_back(round_->committed(*bucket, outcome));
  }
  return parts_.replica.apply(commit, round_->plan(), buckets, scratch_, round_->cost().decode_ns);
}

// Agents that only follow the round settle their encoders too, so that all agents keep the same
// memory.
void Participation::settle_encoders(const wire::CommitT& commit, const Bitmap& counted) {
  const std::vector<ByteSpan> none;
  const auto& outcomes = commit.rounds[0]->outcomes;
  // The results of all exchanges before the last were settled when the agent advanced.
  const std::uint32_t first = exchange_.first_bucket();
  for (const PlannedBucket& bucket : std::span(round_->plan().buckets()).subspan(first)) {
    const bool committed = std::ranges::any_of(
        outcomes, [&](const auto& each) { return each->bucket == bucket.index; });
    const BucketWork& work = round_->work()[bucket.index];
    encoders_.get(bucket, round_->key().epoch)
        .settle(committed ? own_results(work.spans(bucket.stages())) : none,
                committed && counted.test(bucket.index));
  }
}

}  // namespace tributary
