// The end of a round: what counts is applied, stored and published.
#include <algorithm>
#include <utility>

#include "core/base/checksum.h"
#include "core/round/job_run.h"

namespace tributary {
namespace {

// As peers time one another (core/link/arrival_timer.h): what is less may come in one burst.
constexpr std::uint64_t kRateBytesMin = 64 * 1024;

}  // namespace

// ------------------------------------------------------------------------------------

double JobRun::divisor_of_bucket(const BucketAggregation& bucket) const {
  std::vector<double> weights;
  for (const EpochMember& member : members_) weights.push_back(member.weight);
  return divisor_of(round_->plan().wire(), bucket.in_result(), weights);
}

// The buckets that count: all that can be decoded and are finite.
std::vector<BucketAggregation*> JobRun::apply_buckets(FloatVector& model) {
  std::vector<BucketAggregation*> applied;
  const SharedBytes before = rule_->save();
  RuleSteps steps(round_->plan(), *rule_);
  bool all = true;
  for (const auto& bucket : round_->buckets()) {
    steps.at(bucket->bucket());
    if (!bucket->finished()) continue;
    const CommittedBucket committed = bucket->committed(divisor_of_bucket(*bucket));
    if (Status status = decode_bucket(round_->plan(), committed, desk_.config.execution, scratch_);
        !status.ok()) {
      desk_.note(LogLevel::error, "bucket_dropped", name(status.code()), {}, status.text(),
                 round_->key());
      bucket->settle(false);
      bucket->drop();
      all = false;
      continue;
    }
    rule_->apply(rule_step(round_->plan(), committed, scratch_), model);
    applied.push_back(bucket.get());
  }
  // What was trained later began from what is lacking now.
  if (!all && round_->plan().exchanges() > 1) applied.clear();
  if (applied.empty()) ignore_error(rule_->restore(*before));  // it was saved a moment ago
  return applied;
}

void JobRun::commit() {
  auto model = std::make_shared<FloatVector>(*model_);
  const std::vector<BucketAggregation*> applied = apply_buckets(*model);
  if (applied.empty()) return give_up(wire::AbortReason::not_finite, true);
  for (BucketAggregation* bucket : applied) bucket->settle(true);

  CommitRecord record = record_commit(applied, *model);
  Committed commit{
      .published = publish_of(applied, std::make_shared<const RoundRecord>(record.round)),
      .model = model,
      .rule_state = rule_->save(),
      .residual = record.aggregator_residual,
      .checkpointed = checkpoint_due()};
  redo_bytes_ += commit.published.bytes;
  if (commit.checkpointed) {
    record.checkpoint = CheckpointRecord{.job = record_.job,
                                         .model_version = record.round.id.round,
                                         .model_hash = record.round.model_hash,
                                         .model = commit.model,
                                         .rule_state = commit.rule_state};
  }
  phase_ = Phase::committing;
  desk_.store.push(std::move(record), [this, commit = std::move(commit)] { committed(commit); });
}

CommitRecord JobRun::record_commit(const std::vector<BucketAggregation*>& buckets,
                                   const FloatVector& model) {
  CommitRecord commit;
  RoundRecord& record = commit.round;
  record.id = round_->key();
  record.journal_entry = ++journal_entry_;
  record.members = round_->plan().members();
  record.buckets = static_cast<std::uint32_t>(round_->plan().buckets().size());
  record.previous_hash = model_hash_;
  record.model_hash = model_hash_of(model);
  record.began_at_ns = round_->began_at_ns;
  record.committed_at_ns = desk_.now;
  record.bytes_up = round_->bytes_up;
  record.bytes_down = round_->bytes_down;
  Result<SharedBytes> plan = keep_message(round_->plan().wire());
  if (plan.ok()) record.plan = std::move(*plan);  // it was sent in the same form
  record_outcomes(buckets, record);
  for (const BucketAggregation* bucket : buckets) {
    for (std::uint32_t stage = 0; stage < bucket->combined().size(); ++stage) {
      commit.redo.push_back(
          {.bucket = bucket->bucket().index, .stage = stage, .payload = bucket->combined()[stage]});
    }
  }
  if (!aggregator_residual_.empty()) {
    commit.aggregator_residual = std::make_shared<const FloatVector>(aggregator_residual_);
  }
  commit.reports = std::exchange(reports_, {});
  return commit;
}

void JobRun::record_outcomes(const std::vector<BucketAggregation*>& buckets,
                             RoundRecord& record) const {
  std::map<std::vector<std::uint8_t>, std::uint32_t> places;
  for (const BucketAggregation* bucket : buckets) {
    const Bitmap& in = bucket->in_result();
    const auto [place, fresh] =
        places.emplace(in.bytes(), static_cast<std::uint32_t>(places.size()));
    if (fresh) {
      record.contributor_sets.push_back(
          {.bits = in.bytes(), .contributors = in.count(), .divisor = divisor_of_bucket(*bucket)});
    }
    record.outcomes.push_back({.bucket = bucket->bucket().index,
                               .contributor_set = place->second,
                               .result_hash = hash64(*bucket->combined().back())});
  }
}

Published JobRun::publish_of(const std::vector<BucketAggregation*>& buckets,
                             std::shared_ptr<const RoundRecord> record) {
  Published published;
  published.plan = round_->shared_plan();
  published.commit = commit_message(*record, round_->plan().collective());
  published.record = std::move(record);
  for (const BucketAggregation* bucket : buckets) {
    const std::uint32_t number = bucket->bucket().index;
    published.contributors[number] = bucket->in_result().count();
    published.bytes += bucket->bytes();
    published.combined[number] = bucket->combined();
  }
  return published;
}

bool JobRun::checkpoint_due() const {
  const RoundPolicy& policy = record_.policy;
  const double model_bytes = static_cast<double>(job_->values()) * sizeof(float);
  return version_ + 1 - checkpoint_version_ >= policy.checkpoint_rounds ||
         version_ + 1 >= job_->wire().rounds() ||
         static_cast<double>(redo_bytes_) >= policy.checkpoint_redo_models * model_bytes;
}

void JobRun::committed(Committed commit) {
  const Published& published = commit.published;
  version_ = published.record->id.round;
  model_hash_ = published.record->model_hash;
  model_ = std::move(commit.model);
  rule_state_ = std::move(commit.rule_state);
  if (commit.residual) committed_residual_ = std::move(commit.residual);
  if (commit.checkpointed) {
    checkpoint_version_ = version_;
    redo_bytes_ = 0;
  }
  desk_.out.emplace_back(
      Reading{.name = "round_s",
              .value = static_cast<double>(desk_.now - published.record->began_at_ns) / 1e9,
              .job = record_.job,
              .round = version_});
  report_lines();
  tell_planner(*published.record);
  history_.publish(std::move(commit.published));
  const bool kept = desk_.now < snapshot_kept_until_ns_;
  if (!transfers_wait_ && transfers() == 0 && !kept) snapshot_.reset();  // it is an old model
  if (round_->plan().by_peers()) peers_.pause = 0;
  round_.reset();
  attempt_ = 0;
  too_short_ = 0;
  if (phase_ == Phase::committing) phase_ = Phase::waiting;
  if (phase_ == Phase::waiting && advice_ && advice_->pause_s > 0) {
    phase_ = Phase::backing_off;
    resume_at_ns_ = desk_.now + static_cast<TimeNs>(advice_->pause_s * 1e9);
  }
  waiting_since_ns_ = desk_.now;
  for (const auto& [number, session] : desk_.roster.all()) advance(*session);
  report_bytes();
  maybe_begin();
}

// A line is as fast as the parts behind the first came: at least that, since they may have waited
// for the agent and not for the line. Among peers each bucket's result waits for its exchange. Of
// few bytes a line may let all through at once before its rate begins.
void JobRun::report_lines() {
  for (const RoundMember& member : round_->members()) {
    const AgentSession* session = desk_.roster.by_session(member.session);
    const TimeNs took = member.last_part_at_ns - member.first_part_at_ns;
    if (!session || member.bytes_after_first == 0 || took <= 0) continue;
    const bool few = member.bytes_after_first < kRateBytesMin;
    std::string_view name = few ? "uplink_s_per_byte_of_few" : "uplink_s_per_byte";
    if (round_->plan().by_peers()) name = "uplink_s_per_byte_at_most";
    desk_.out.emplace_back(Reading{
        .name = name,
        .value = static_cast<double>(took) / 1e9 / static_cast<double>(member.bytes_after_first),
        .job = record_.job,
        .round = version_,
        .agent_id = session->agent_id});
  }
}

// Of the round and of its commit, which has just been sent; that others have applied it comes with
// the next. What did not move is not told.
void JobRun::report_bytes() {
  for (const auto& [number, session] : desk_.roster.all()) {
    if (session->run == record_.job) count(*session);
  }
  const auto tell = [&](std::string_view name, std::uint64_t bytes) {
    if (bytes == 0) return;
    desk_.out.emplace_back(Reading{
        .name = name, .value = static_cast<double>(bytes), .job = record_.job, .round = version_});
  };
  for (const MessageUseNames& names : kMessageUseNames) {
    tell(names.up, up_.of(names.use));
    tell(names.down, down_.of(names.use));
  }
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    tell(field.reading, repeats_.*field.bytes);
  }
  up_ = down_ = {};
  repeats_ = {};
}

}  // namespace tributary
