#include "core/round/coordinator/commit/commit_writer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/base/copy_on_write.h"
#include "core/codec/chunks.h"
#include "core/round/common/plan/mechanisms.h"
#include "core/round/common/plan/plan_builder.h"
#include "core/round/common/plan/residual_account.h"
#include "core/round/common/plan/round_steps.h"

namespace tributary {
namespace {

double divisor_of_bucket(const ActiveRound& round, const BucketAggregation& bucket,
                         const std::vector<double>& weights) {
  return divisor_of(round.plan().wire(), bucket.in_result(), weights);
}

// Buckets with the same contributors share one contributor set.
void record_outcomes(const ActiveRound& round, const std::vector<BucketAggregation*>& buckets,
                     const std::vector<double>& weights, RoundRecord& record) {
  std::map<std::vector<std::uint8_t>, std::uint32_t> places;
  for (const BucketAggregation* bucket : buckets) {
    const Bitmap& in = bucket->in_result();
    const auto [place, fresh] =
        places.emplace(in.bytes(), static_cast<std::uint32_t>(places.size()));
    if (fresh) {
      record.contributor_sets.push_back({.bits = in.bytes(),
                                         .contributors = in.count(),
                                         .divisor = divisor_of_bucket(round, *bucket, weights)});
    }
    record.outcomes.push_back({.bucket = bucket->bucket().index,
                               .contributor_set = place->second,
                               .result_hash = hash64(*bucket->combined().back())});
  }
}

// Completes the facts of the round with those of its results.
wire::RoundMechanismsT mechanisms_of(const ActiveRound& round, const Membership& membership,
                                     const std::vector<BucketAggregation*>& buckets,
                                     const Execution& execution) {
  const RoundPlan& plan = round.plan();
  wire::RoundMechanismsT facts = round.mechanisms;
  facts.quorum = plan.wire().quorum;
  facts.asked = plan.agents();
  facts.exchanges = plan.exchanges();
  facts.attempts_failed = plan.key().attempt;
  std::vector<std::uint64_t> left_out(plan.members());
  for (const BucketAggregation* bucket : buckets) {
    const Bitmap& in = bucket->in_result();
    facts.contributors = std::max(facts.contributors, in.count());
    facts.threads = std::max(facts.threads, threads_for(execution, bucket->bucket().values));
    const bool added_here = plan.by_coordinator(bucket->bucket(), bucket->bucket().last_stage());
    add_to_tally(facts.buckets_by_collective,
                 wire::EnumNameCollective(added_here ? wire::Collective::star : plan.collective()));
    for (std::uint32_t i = 0; i < plan.members(); ++i) {
      if (plan.participants().test(i) && !in.test(i)) ++left_out[i];
    }
  }
  for (std::uint32_t i = 0; i < plan.members(); ++i) {
    if (left_out[i] > 0)
      add_to_tally(facts.left_out, membership.members()[i].agent_id, left_out[i]);
  }
  return facts;
}

std::uint64_t bytes_of_results(const ActiveRound& round) {
  std::uint64_t bytes = 0;
  for (const auto& bucket : round.buckets()) {
    if (bucket->finished()) bytes += bucket->bytes();
  }
  return bytes;
}

// True if a connected agent of the job is behind, or will be at the end of its download.
bool some_lack_rounds(const JobContext& job, std::uint64_t version) {
  return std::ranges::any_of(job.coordinator.roster.all(), [&](const auto& item) {
    const AgentSession& session = *item.second;
    if (session.job != job.id()) return false;
    return session.transfer != 0 ? session.transfer_version < version
                                 : session.synced && session.version < version;
  });
}

// A published round shares the payloads of its buckets; nothing is copied.
Published publish_of(const ActiveRound& round, const std::vector<BucketAggregation*>& buckets,
                     const RoundRecord& record) {
  Published published;
  published.plan = round.shared_plan();
  published.commit = commit_message(record, round.plan().collective());
  published.record = std::make_shared<const RoundRecord>(record);
  for (const BucketAggregation* bucket : buckets) {
    const std::uint32_t number = bucket->bucket().index;
    published.contributors[number] = bucket->in_result().count();
    published.bytes += bucket->bytes();
    published.combined[number] = bucket->combined();
  }
  return published;
}

}  // namespace

std::span<float> CommitWriter::aggregator_residual(const RoundPlan& plan) {
  // The residual exists only from the first round on that needs one. It has the size of the model.
  const bool encodes_again = std::ranges::any_of(plan.buckets(), [&](const PlannedBucket& bucket) {
    return !plan.by_members() && bucket.codec->aggregation() != Aggregation::sum &&
           bucket.keeps_error();
  });
  std::shared_ptr<FloatVector>& shared = committed_.mutable_residual();
  if (encodes_again && !shared) {
    shared = std::make_shared<FloatVector>(job_.model->values(), 0.0f);
  }
  // A gradient's residual is in units of the learning rate.
  const double old_rate = std::exchange(residual_rate_, plan.wire().learning_rate);
  if (!shared) return {};
  FloatVector& residual = own(shared);
  if (job_.model->gradient()) rescale_residual(old_rate, residual_rate_, residual);
  return residual;
}

// --- the next model ----------------------------------------------------------------------------

// Codecs that read the optimizer's state need it as it was before the round. A large model waits
// until the payloads of the round before may go.
bool CommitWriter::has_next(const ActiveRound& round) const {
  const auto& buckets = round.buckets();
  const std::size_t at = next_ ? next_->buckets : 0;
  if (at >= buckets.size() || (next_ && next_->failed) || round.plan().exchanges() > 1 ||
      job_.model->values() * sizeof(float) >= large_results_bytes_) {
    return false;
  }
  return buckets[at]->finished() && std::ranges::none_of(buckets, [](const auto& bucket) {
           return bucket->bucket().codec->reads_optimizer();
         });
}

void CommitWriter::apply_next(ActiveRound& round, const Membership& membership) {
  begin_next();
  BucketAggregation& bucket = *round.buckets()[next_->buckets];
  if (!apply(round, bucket, membership.weights()).ok()) {
    forget();
    next_ = Next{.failed = true};
  }
}

void CommitWriter::forget() {
  // Cannot fail: the state was saved by the same rule.
  if (next_ && next_->rule_before) ignore_error(rule_->restore(*next_->rule_before));
  next_.reset();
}

// If nothing is committed, the rule must not have advanced: Adam, for example, counts its steps.
void CommitWriter::begin_next() {
  if (next_) return;
  next_ = Next{.model = std::make_shared<FloatVector>(*committed_.state().values),
               .rule_before = rule_->save()};
}

Status CommitWriter::apply(const ActiveRound& round, BucketAggregation& bucket,
                           const std::vector<double>& weights) {
  const std::uint32_t begun =
      next_->applied.empty() ? 0 : next_->applied.back()->bucket().exchange + 1;
  RoundSteps steps(round.plan(), job_.coordinator.config.execution, *rule_, scratch_, *next_->model,
                   begun);
  TRIBUTARY_TRY(steps.apply_checked(bucket.committed(divisor_of_bucket(round, bucket, weights))));
  next_->applied.push_back(&bucket);
  ++next_->buckets;
  return {};
}

// Applies the results of the buckets that are left. Returns false if a step is not finite, or if no
// bucket has a result. The results of the other buckets wait for the next attempt then, which
// leaves out suspects.
bool CommitWriter::apply_rest(ActiveRound& round, const std::vector<double>& weights) {
  CoordinatorContext& context = job_.coordinator;
  while (next_->buckets < round.buckets().size()) {
    BucketAggregation& bucket = *round.buckets()[next_->buckets];
    if (!bucket.finished()) {
      ++next_->buckets;
      continue;
    }
    if (Status status = apply(round, bucket, weights); !status.ok()) {
      context.note(LogLevel::error, "bucket_dropped", name(status.code()), {}, status.text(),
                   round.key());
      bucket.drop_not_finite();
      return false;
    }
  }
  if (next_->applied.empty()) return false;
  // The rule begins for exchanges without a result, too.
  RoundSteps(round.plan(), context.config.execution, *rule_, scratch_, *next_->model,
             next_->applied.back()->bucket().exchange + 1)
      .finish();
  return true;
}

// --- the commit --------------------------------------------------------------------------------

// The model is computed first and published last: until the record is stored, no agent and no view
// sees the new version. A crash before that leaves the old version, and the round runs again.
bool CommitWriter::write(ActiveRound& round, const Membership& membership,
                         std::vector<AgentRoundRecord>& reports, Done done) {
  const std::vector<double> weights = membership.weights();
  // A damaged segment from a peer may have dropped a bucket since.
  const bool valid =
      next_ && !next_->failed && std::ranges::all_of(next_->applied, &BucketAggregation::finished);
  if (!valid) forget();
  bool settled = false;
  if (!next_) {
    drop_past_payloads(round);
    settled = settle_early(round, weights);
  }
  begin_next();
  if (!apply_rest(round, weights)) {
    forget();
    return false;
  }
  // During a round of a large model, payloads that arrive use this memory.
  if (job_.model->values() * sizeof(float) >= large_results_bytes_) scratch_ = FloatVector();
  const std::shared_ptr<FloatVector> model = std::move(next_->model);
  const std::vector<BucketAggregation*> applied = std::move(next_->applied);
  next_.reset();
  if (!settled) {
    for (BucketAggregation* bucket : applied) bucket->settle(true);
  }

  CommitRecord record = record_of(round, membership, applied, weights, *model);
  record.reports = std::exchange(reports, {});
  Pending pending{.published = publish_of(round, applied, record.round),
                  .state = {.version = record.round.id.round,
                            .hash = record.round.model_hash,
                            .values = model,
                            .rule_state = rule_->save()},
                  .checkpointed = checkpoint_due()};
  redo_bytes_ += pending.published.bytes;
  if (pending.checkpointed) {
    record.checkpoint = CheckpointRecord{.job = job_.id(),
                                         .model_version = pending.state.version,
                                         .model_hash = pending.state.hash,
                                         .model = pending.state.values,
                                         .rule_state = pending.state.rule_state,
                                         .redo_from = committed_.history().journal_from(
                                             pending.state.version, pending.published.bytes)};
  }
  job_.coordinator.store.push(
      std::move(record),
      [this, pending = std::move(pending), done = std::move(done)] { stored(pending, done); });
  return true;
}

// The payloads of the last round would go with the next one anyway, if they exceed the history's
// limit; this is before the new model is made.
void CommitWriter::drop_past_payloads(const ActiveRound& round) {
  free_past_results();
  const std::uint64_t bytes = bytes_of_results(round);
  if (bytes < large_results_bytes_ || some_lack_rounds(job_, committed_.version())) return;
  committed_.history().drop_payloads_for(bytes);
}

void CommitWriter::free_past_results() {
  if (job_.model->values() * sizeof(float) < large_results_bytes_) return;
  if (!some_lack_rounds(job_, committed_.version())) committed_.history().free_large_payloads();
}

// The sums of a codec that encodes them again become its next residual once nothing can fail. For a
// large model this is decided before the next model is made, which then takes their memory.
bool CommitWriter::settle_early(const ActiveRound& round, const std::vector<double>& weights) {
  const RoundPlan& plan = round.plan();
  const std::uint64_t model_bytes = job_.model->values() * sizeof(float);
  if (!committed_.aggregator_residual() || model_bytes < large_results_bytes_) return false;
  if (plan.exchanges() > 1) return false;
  const Execution& execution = job_.coordinator.config.execution;
  const std::span<const float> model = *committed_.state().values;
  for (const auto& bucket : round.buckets()) {
    if (!bucket->finished()) continue;
    const CommittedBucket committed = bucket->committed(divisor_of_bucket(round, *bucket, weights));
    if (!decode_bucket(plan, committed, execution, scratch_).ok()) return false;
    const PlannedBucket& planned = bucket->bucket();
    const RuleStep step = {.first_value = planned.first_value,
                           .sum = scratch_,
                           .divisor = committed.divisor,
                           .learning_rate = plan.wire().learning_rate,
                           .execution = execution};
    if (!rule_->certainly_finite(step, model.subspan(planned.first_value, planned.values))) {
      return false;
    }
  }
  for (const auto& bucket : round.buckets()) bucket->settle(true);
  return true;
}

// The record contains everything that a restart needs to repeat the round: its plan, the combined
// payloads of all stages and the hash of the resulting model.
CommitRecord CommitWriter::record_of(const ActiveRound& round, const Membership& membership,
                                     const std::vector<BucketAggregation*>& buckets,
                                     const std::vector<double>& weights, const FloatVector& model) {
  CommitRecord commit;
  RoundRecord& record = commit.round;
  record.id = round.key();
  record.journal_entry = ++journal_entry_;
  record.members = round.plan().members();
  record.buckets = static_cast<std::uint32_t>(round.plan().buckets().size());
  record.previous_hash = committed_.hash();
  record.model_hash = model_hash_of(model);
  record.began_at_ns = round.began_at_ns;
  record.committed_at_ns = job_.coordinator.now;
  record.bytes_up = round.bytes_up;
  record.bytes_down = round.bytes_down;
  Result<SharedBytes> plan = keep_message(round.plan().wire());
  if (plan.ok()) record.plan = std::move(*plan);  // cannot fail: it was sent in the same form
  record_outcomes(round, buckets, weights, record);
  commit.mechanisms =
      pack_mechanisms(mechanisms_of(round, membership, buckets, job_.coordinator.config.execution));
  for (const BucketAggregation* bucket : buckets) {
    for (std::uint32_t stage = 0; stage < bucket->combined().size(); ++stage) {
      commit.redo.push_back(
          {.bucket = bucket->bucket().index, .stage = stage, .payload = bucket->combined()[stage]});
    }
  }
  commit.aggregator_residual = committed_.aggregator_residual();
  return commit;
}

bool CommitWriter::checkpoint_due() const {
  const RoundPolicy& policy = job_.policy();
  const std::uint64_t next = committed_.version() + 1;
  const double model_bytes = static_cast<double>(job_.model->values()) * sizeof(float);
  return next - checkpoint_version_ >= policy.checkpoint_rounds ||
         // The last round always writes one, so that the final model can be read without redo.
         next >= job_.model->wire().rounds() ||
         static_cast<double>(redo_bytes_) >= policy.checkpoint_redo_models * model_bytes;
}

// The only place where the committed version advances.
void CommitWriter::stored(Pending pending, const Done& done) {
  if (pending.checkpointed) {
    checkpoint_version_ = pending.state.version;
    redo_bytes_ = 0;
  }
  const std::shared_ptr<const RoundRecord> record = pending.published.record;
  committed_.replace(std::move(pending.state));
  committed_.history().publish(std::move(pending.published));
  done(*record);
}

}  // namespace tributary
