// How a job comes back from its journal.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/round/job_run.h"

namespace tributary {
namespace {

Status contradiction(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "restore the journal from a copy"});
}

std::uint64_t redo_budget(const CoordinatorConfig& config, const JobModel& job) {
  return static_cast<std::uint64_t>(config.redo_models * static_cast<double>(job.values()) *
                                    sizeof(float));
}

// The plan that a record keeps.
Result<std::shared_ptr<const RoundPlan>> plan_of(const RoundRecord& record, const JobModel& job,
                                                 CodecShelf& shelf) {
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*record.plan));
  const wire::Plan* plan = frame->message_as_Plan();
  if (!plan) return contradiction("plan of " + text(record.id), "a Plan", "another message");
  wire::PlanT unpacked;
  plan->UnPackTo(&unpacked);
  return RoundPlan::make(unpacked, job, shelf);
}

// Places the redo payloads of a record, all stages of each bucket with an outcome.
Result<Published> published_of(const CommitRecord& commit, std::shared_ptr<const RoundPlan> plan) {
  Published published;
  published.plan = std::move(plan);
  published.record = std::make_shared<const RoundRecord>(commit.round);
  published.commit = commit_message(commit.round, published.plan->collective());
  std::map<std::pair<std::uint32_t, std::uint32_t>, SharedBytes> payloads;
  for (const RedoPayload& redo : commit.redo) payloads[{redo.bucket, redo.stage}] = redo.payload;
  for (const OutcomeRecord& outcome : commit.round.outcomes) {
    if (outcome.bucket >= published.plan->buckets().size() ||
        outcome.contributor_set >= commit.round.contributor_sets.size()) {
      return contradiction("outcome of " + text(commit.round.id), "a bucket and set of the plan",
                           "another");
    }
    const PlannedBucket& bucket = published.plan->buckets()[outcome.bucket];
    published.contributors[outcome.bucket] =
        commit.round.contributor_sets[outcome.contributor_set].contributors;
    for (std::uint32_t stage = 0; stage < bucket.stages(); ++stage) {
      const auto found = payloads.find({outcome.bucket, stage});
      if (found == payloads.end()) {
        return contradiction("redo of " + text(commit.round.id), "all stages of a bucket", "fewer");
      }
      published.bytes += found->second->size();
      published.combined[outcome.bucket].push_back(found->second);
    }
  }
  return published;
}

std::vector<CommittedBucket> committed_buckets(const Published& published) {
  std::vector<CommittedBucket> buckets;
  for (const OutcomeRecord& outcome : published.record->outcomes) {
    const ContributorSetRecord& set = published.record->contributor_sets[outcome.contributor_set];
    CommittedBucket one{.bucket = outcome.bucket,
                        .divisor = set.divisor,
                        .contributors = set.contributors,
                        .combined = {}};
    for (const SharedBytes& payload : published.combined.at(outcome.bucket)) {
      one.combined.emplace_back(*payload);
    }
    buckets.push_back(std::move(one));
  }
  return buckets;
}

}  // namespace

JobRun::JobRun(CoordinatorDesk& desk, std::shared_ptr<const JobModel> job, RestoredJob state)
    : desk_(desk),
      record_(std::move(state.job)),
      job_(std::move(job)),
      history_(redo_budget(desk.config, *job_), desk.config.history_rounds_max),
      last_epoch_(state.last_epoch) {}

Result<std::unique_ptr<JobRun>> JobRun::make(CoordinatorDesk& desk, RestoredJob state) {
  TRIBUTARY_TRY(check(state.job.policy));
  TRIBUTARY_ASSIGN(std::shared_ptr<const JobModel> job, JobModel::make(state.job.definition));
  RestoredJob rest = state;
  std::unique_ptr<JobRun> run(new JobRun(desk, std::move(job), std::move(state)));
  TRIBUTARY_TRY(run->restore(rest));
  return run;
}

Status JobRun::restore(RestoredJob& state) {
  TRIBUTARY_ASSIGN(rule_, make_model_rule(job_->wire()));
  const CheckpointRecord& checkpoint = state.checkpoint;
  if (!checkpoint.model || checkpoint.model->size() != job_->values()) {
    return contradiction("model of a checkpoint", fmt::format("{} values", job_->values()),
                         fmt::format("{}", checkpoint.model ? checkpoint.model->size() : 0));
  }
  if (model_hash_of(*checkpoint.model) != checkpoint.model_hash) {
    return contradiction("hash of a checkpoint", fmt::format("{:016x}", checkpoint.model_hash),
                         "that of another model");
  }
  if (checkpoint.rule_state) TRIBUTARY_TRY(rule_->restore(*checkpoint.rule_state));
  version_ = checkpoint_version_ = checkpoint.model_version;
  model_hash_ = checkpoint.model_hash;
  model_ = checkpoint.model;
  if (state.aggregator_residual) {
    if (state.aggregator_residual->size() != job_->values()) {
      return contradiction("residual of the aggregator", "the model's size", "another");
    }
    committed_residual_ = state.aggregator_residual;
    aggregator_residual_ = *committed_residual_;
  }
  for (EpochRecord& epoch : state.epochs) {
    last_epoch_ = std::max(last_epoch_, epoch.epoch);
    history_.add_epoch(std::make_shared<const EpochRecord>(std::move(epoch)));
  }
  for (RoundRecord& record : state.history) {
    journal_entry_ = std::max(journal_entry_, record.journal_entry);
    history_.add_outcome(std::make_shared<const RoundRecord>(std::move(record)));
  }
  for (const CommitRecord& commit : state.redo) TRIBUTARY_TRY(redo(commit));
  rule_state_ = rule_->save();
  if (version_ > 0) residual_rate_ = job_->learning_rate(record_.policy.learning_rate, version_);
  if (record_.state == wire::JobState::finished || record_.state == wire::JobState::stopped) {
    phase_ = Phase::over;
  }
  return {};
}

Status JobRun::redo(const CommitRecord& commit) {
  if (commit.round.id.round != version_ + 1 || commit.round.previous_hash != model_hash_) {
    return contradiction("redo of " + text(commit.round.id),
                         fmt::format("the round after {}", version_), "another");
  }
  TRIBUTARY_ASSIGN(auto plan, plan_of(commit.round, *job_, desk_.shelf));
  TRIBUTARY_ASSIGN(Published published, published_of(commit, std::move(plan)));
  auto model = std::make_shared<FloatVector>(*model_);
  TRIBUTARY_TRY(apply_round(*published.plan, committed_buckets(published), desk_.config.execution,
                            *rule_, scratch_, *model));
  if (model_hash_of(*model) != commit.round.model_hash) {
    return contradiction("model after " + text(commit.round.id),
                         fmt::format("hash {:016x}", commit.round.model_hash),
                         fmt::format("{:016x}", model_hash_of(*model)));
  }
  version_ = commit.round.id.round;
  model_hash_ = commit.round.model_hash;
  model_ = std::move(model);
  journal_entry_ = std::max(journal_entry_, commit.round.journal_entry);
  redo_bytes_ += published.bytes;
  history_.publish(std::move(published));
  return {};
}

}  // namespace tributary
