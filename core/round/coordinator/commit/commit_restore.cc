// Restores a job's model from its journal.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/round/common/plan/round_steps.h"
#include "core/round/coordinator/commit/commit_writer.h"

namespace tributary {
namespace {

Status contradiction(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "restore the journal from a copy"});
}

// The plan in a record.
Result<std::shared_ptr<const RoundPlan>> plan_of(const RoundRecord& record, const JobModel& job,
                                                 CodecCache& cache) {
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*record.plan));
  const wire::Plan* plan = frame->message_as_Plan();
  if (!plan) return contradiction("plan of " + text(record.id), "a Plan", "another message");
  wire::PlanT unpacked;
  plan->UnPackTo(&unpacked);
  return RoundPlan::make(unpacked, job, cache);
}

// Sorts the redo payloads of a record by bucket and stage. Every bucket with an outcome must have
// all stages.
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

// A restart starts from the last checkpoint and repeats the rounds after it from their stored
// payloads. Every round is compared with its stored hash, so a restored model is either the
// committed one or an error.
Status CommitWriter::restore(RestoredJob& state) {
  TRIBUTARY_ASSIGN(rule_, make_model_rule(job_.model->wire()));
  const CheckpointRecord& checkpoint = state.checkpoint;
  if (!checkpoint.model || checkpoint.model->size() != job_.model->values()) {
    return contradiction("model of a checkpoint", fmt::format("{} values", job_.model->values()),
                         fmt::format("{}", checkpoint.model ? checkpoint.model->size() : 0));
  }
  if (model_hash_of(*checkpoint.model) != checkpoint.model_hash) {
    return contradiction("hash of a checkpoint", fmt::format("{:016x}", checkpoint.model_hash),
                         "that of another model");
  }
  if (checkpoint.rule_state) TRIBUTARY_TRY(rule_->restore(*checkpoint.rule_state));
  if (state.aggregator_residual) {
    if (state.aggregator_residual->size() != job_.model->values()) {
      return contradiction("residual of the aggregator", "the model's size", "another");
    }
    committed_.mutable_residual() = std::make_shared<FloatVector>(*state.aggregator_residual);
    state.aggregator_residual.reset();
  }
  checkpoint_version_ = checkpoint.model_version;
  committed_.replace({.version = checkpoint.model_version,
                      .hash = checkpoint.model_hash,
                      .values = checkpoint.model,
                      .rule_state = nullptr});
  for (EpochRecord& epoch : state.epochs) {
    committed_.history().add_epoch(std::make_shared<const EpochRecord>(std::move(epoch)));
  }
  for (RoundRecord& record : state.history) {
    journal_entry_ = std::max(journal_entry_, record.journal_entry);
    committed_.history().add_outcome(std::make_shared<const RoundRecord>(std::move(record)));
  }
  // The rule's state is saved once, after the last redo: saving it in every step would copy the
  // optimizer's state each time.
  for (const CommitRecord& commit : state.redo) TRIBUTARY_TRY(redo(commit));
  CommittedModel::State restored = committed_.state();
  restored.rule_state = rule_->save();
  committed_.replace(std::move(restored));
  if (committed_.version() > 0) {
    residual_rate_ = job_.model->learning_rate(job_.policy().learning_rate, committed_.version());
  }
  return {};
}

Status CommitWriter::redo(const CommitRecord& commit) {
  const std::uint64_t version = committed_.version() + 1;
  if (commit.round.id.round != version || commit.round.previous_hash != committed_.hash()) {
    return contradiction("redo of " + text(commit.round.id),
                         fmt::format("the round after {}", committed_.version()), "another");
  }
  TRIBUTARY_ASSIGN(auto plan, plan_of(commit.round, *job_.model, job_.coordinator.cache));
  TRIBUTARY_ASSIGN(Published published, published_of(commit, std::move(plan)));
  auto model = std::make_shared<FloatVector>(*committed_.state().values);
  TRIBUTARY_TRY(apply_round(*published.plan, committed_buckets(published),
                            job_.coordinator.config.execution, *rule_, scratch_, *model));
  // Redo must give the same bits as the original round. A difference means a damaged journal or a
  // build with other arithmetic.
  if (model_hash_of(*model) != commit.round.model_hash) {
    return contradiction("model after " + text(commit.round.id),
                         fmt::format("hash {:016x}", commit.round.model_hash),
                         fmt::format("{:016x}", model_hash_of(*model)));
  }
  committed_.replace({.version = version,
                      .hash = commit.round.model_hash,
                      .values = std::move(model),
                      .rule_state = nullptr});
  journal_entry_ = std::max(journal_entry_, commit.round.journal_entry);
  redo_bytes_ += published.bytes;
  committed_.history().publish(std::move(published));
  return {};
}

}  // namespace tributary
