#include "core/round/agent/replica/replica.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/base/copy_on_write.h"
#include "core/codec/device/codec_device.h"
#include "core/round/common/plan/round_steps.h"

namespace tributary {
namespace {

Status other_transfer(std::string what, std::string expected) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = "another",
                                           .remedy = "have it sent again"});
}

}  // namespace

// --- start -------------------------------------------------------------------------------------

Status Replica::restore(const AgentJobRecord& stored) {
  job_record_ = stored;
  TRIBUTARY_ASSIGN(job_, JobModel::make(job_record_.definition));
  TRIBUTARY_ASSIGN(rule_, make_model_rule(job_->wire()));
  context_.out.set_job(job_->job());
  return {};
}

bool Replica::owns(const ReplicaRecord& stored) const {
  return stored.job == job_->job() && stored.layer_map_hash == job_->layer_map_hash();
}

// Frees the record's copy as soon as it is checked, so that the model stays in memory only once.
Status Replica::restore(ReplicaRecord& stored) {
  id_ = {.version = stored.model_version, .hash = stored.model_hash};
  const bool intact = stored.model && stored.model->size() == job_->values() &&
                      model_hash_of(*stored.model) == stored.model_hash;
  // If the stored model is damaged, the coordinator sends it again.
  if (intact) {
    model_ = std::make_shared<FloatVector>(*stored.model);
    checkpoint_ = stored.model_version;
    updates_recorded_ = stored.residual_stamp.updates_taken;
  }
  stored.model.reset();
  return intact && stored.rule_state ? rule_->restore(*stored.rule_state) : Status();
}

// --- job ---------------------------------------------------------------------------------------

Result<bool> Replica::take(const wire::Job& job) {
  wire::JobT unpacked;
  job.UnPackTo(&unpacked);
  TRIBUTARY_ASSIGN(SharedBytes definition, keep_message(std::move(unpacked)));
  TRIBUTARY_ASSIGN(std::shared_ptr<const JobModel> model, JobModel::make(definition));
  const std::uint64_t bytes_max = context_.config.model_bytes_max;
  if (model->values() > bytes_max / sizeof(float)) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "model of the job",
                   .expected = fmt::format("at most {} bytes", bytes_max),
                   .got = fmt::format("{} values", model->values()),
                   .remedy = "raise the agent's limit, or leave this device out"});
  }
  TRIBUTARY_ASSIGN(std::unique_ptr<ModelRule> rule, make_model_rule(model->wire()));
  // The new definition is complete and checked here. Until this line an error has left the replica
  // unchanged.
  const bool same =
      job_ && job_->job() == model->job() && job_->layer_map_hash() == model->layer_map_hash();
  job_ = std::move(model);
  context_.out.set_job(job_->job());
  job_record_ = {.job = job_->job(),
                 .revision = job_->revision(),
                 .change = 0,
                 .state = job.state(),
                 .definition = std::move(definition)};
  // A new revision of the same job keeps the model.
  if (same) return false;
  rule_ = std::move(rule);
  model_.reset();
  on_device_.drop();
  steps_on_device_ = false;
  checkpoint_.reset();
  updates_recorded_ = 0;
  id_ = {};
  return true;
}

void Replica::store_job(StoreQueue<AgentRecordToStore>::Done&& done) {
  context_.store.push(job_record_, std::move(done));
}

bool Replica::change(const wire::JobChange& change) {
  // Changes are numbered. A repeat or a change that was overtaken by a newer one has no effect.
  if (!job_ || change.job() != job_->job() || change.change() <= job_record_.change) return false;
  job_record_.change = change.change();
  job_record_.state = change.state();
  store_job({});
  context_.out.note(LogLevel::info, "job_changed", wire::EnumNameJobState(change.state()),
                    change.reason() ? change.reason()->str() : std::string());
  return job_over();
}

bool Replica::job_over() const {
  return job_record_.state == wire::JobState::finished ||
         job_record_.state == wire::JobState::stopped;
}

// --- downloads ---------------------------------------------------------------------------------

// Two hashes with two purposes: the offer's hash covers the transferred bytes, the model hash is
// the one that every later commit refers to. Nothing of the replica changes here.
Result<Replica::Downloaded> Replica::read(const ModelDownload& download) const {
  const wire::TransferOfferT& offer = *download.offer();
  const ByteSpan bytes = download.content();
  if (hash64(bytes) != offer.hash) return other_transfer("transferred bytes", "the offer's hash");
  auto model = std::make_shared<FloatVector>(job_->values());
  if (model_bytes() > 0) std::memcpy(model->data(), bytes.data(), model_bytes());
  if (model_hash_of(*model) != offer.model_hash) {
    return other_transfer("transferred model", "the offer's model hash");
  }
  return Downloaded{.id = {.version = offer.model_version, .hash = offer.model_hash},
                    .model = std::move(model),
                    .rule_state = bytes.subspan(model_bytes())};
}

Status Replica::adopt(Downloaded downloaded) {
  TRIBUTARY_ASSIGN(std::unique_ptr<ModelRule> rule, make_model_rule(job_->wire()));
  TRIBUTARY_TRY(rule->restore(downloaded.rule_state));
  rule_ = std::move(rule);
  model_ = std::move(downloaded.model);
  on_device_.drop();
  steps_on_device_ = false;
  id_ = downloaded.id;
  return {};
}

// --- commits -----------------------------------------------------------------------------------

Status Replica::check_previous(const wire::CommitT& commit) const {
  if (commit.previous_hash == id_.hash) return {};
  return Status(StatusCode::mismatch, {.what = "model before the commit",
                                       .expected = fmt::format("{:016x}", commit.previous_hash),
                                       .got = fmt::format("{:016x}", id_.hash),
                                       .remedy = {}});
}

// The hash over all values is compared after every commit. It is the proof that this replica is
// identical to the coordinator's model to the bit, and it costs one pass over the model.
bool Replica::finish(const wire::CommitT& commit, const Status& status) {
  const std::uint64_t hash = model_hash_of(*model_);
  if (status.ok() && hash == commit.model_hash) {
    id_ = {.version = commit.model_version, .hash = hash};
    return true;
  }
  on_device_.drop();
  context_.out.note(LogLevel::error, "replica_diverged", "mismatch",
                    status.ok() ? "the model after the commit is another" : status.text());
  // The model is now neither of the old nor of the new version.
  model_.reset();
  return false;
}

bool Replica::apply(const wire::CommitT& commit, const RoundPlan& plan,
                    const std::vector<CommittedBucket>& buckets, FloatVector& sum,
                    TimeNs& decode_ns) {
  Status status = check_previous(commit);
  if (!status.ok()) return finish(commit, status);
  const TimeNs began_at = context_.stopwatch_ns();
  status = step(plan, buckets, sum);
  decode_ns += context_.stopwatch_ns() - began_at;
  if (!finish(commit, status)) return false;
  if (steps_on_device_) on_device_.follow(id_);
  return true;
}

Status Replica::step(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets,
                     FloatVector& sum) {
  auto after = on_device_.apply(plan, buckets, {.id = id_, .model = *model_, .rule = *rule_}, sum);
  if (after && rule_->restore(after->rule_state).ok()) {
    note_steps(true);
    model_ = std::move(after->model);
    return {};
  }
  on_device_.drop();
  note_steps(false);
  return apply_round(plan, buckets, context_.config.execution, *rule_, sum, own(model_));
}

void Replica::note_steps(bool on_device) {
  if (on_device == std::exchange(steps_on_device_, on_device)) return;
  const CodecDevice* const device = context_.config.execution.device;
  context_.out.note(LogLevel::info, "optimizer_steps", on_device ? device->name() : "host",
                    "this device makes the optimizer's steps of the replica");
}

bool Replica::adopt(const wire::CommitT& commit, ModelAhead ahead) {
  const Status status = check_previous(commit);
  if (status.ok()) {
    note_steps(false);
    model_ = std::move(ahead.model);
    rule_ = std::move(ahead.rule);
  }
  return finish(commit, status);
}

// Shares the values until the first change.
ModelAhead Replica::go_ahead() const { return {.model = model_, .rule = rule_->copy()}; }

// --- records -----------------------------------------------------------------------------------

// A download or a commit with another model may also go back to an earlier version.
bool Replica::checkpoint_due() const {
  return !checkpoint_ || id_.version < *checkpoint_ ||
         id_.version - *checkpoint_ >= context_.config.checkpoint_rounds ||
         id_.version == job_->wire().rounds() || job_over();
}

ReplicaRecord Replica::record(std::uint32_t epoch, const ResidualAccount& residual,
                              Checkpoint checkpoint) {
  ReplicaRecord record{.job = job_->job(),
                       .layer_map_hash = job_->layer_map_hash(),
                       .epoch = epoch,
                       .model_version = id_.version,
                       .model_hash = id_.hash,
                       .model = nullptr,
                       .rule_state = nullptr,
                       .residual = residual.shared(),
                       .residual_stamp = residual.stamp(),
                       .undecided = {}};
  if (checkpoint == Checkpoint::now || checkpoint_due()) {
    record.model = model_;
    record.rule_state = rule_->save();
    checkpoint_ = id_.version;
  }
  updates_recorded_ = record.residual_stamp.updates_taken;
  for (const UndecidedRound& round : residual.undecided()) record.undecided.push_back(round.id);
  return record;
}

// Every change of the residual but a commit's counts as an update, and a commit has its own record.
bool Replica::recorded(const ResidualAccount& residual) const {
  return checkpoint_ == id_.version && updates_recorded_ == residual.stamp().updates_taken;
}

std::unique_ptr<wire::HoldingT> Replica::holding() const {
  if (!job_) return nullptr;
  auto holding = std::make_unique<wire::HoldingT>();
  holding->job = job_->job();
  holding->job_revision = job_->revision();
  holding->layer_map_hash = job_->layer_map_hash();
  holding->model_version = model_ ? id_.version : 0;
  holding->model_hash = model_ ? id_.hash : 0;
  return holding;
}

}  // namespace tributary
