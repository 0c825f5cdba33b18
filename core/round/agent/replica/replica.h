// An agent's replica: its job, the model of one version, and the rule that computes the next model.
//
// The caller passes commits and downloads of the replica's job, and stores record() after each
// change of the model. Most of these records have no model: after a restart the coordinator has the
// rounds since the stored one. If the result of a commit differs from the coordinator's model, the
// replica notes it and drops its model; the caller then requests the model again. Values that other
// owners share are copied before a change. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/replica/model_download.h"
#include "core/round/agent/replica/replica_on_device.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/residual_account.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// A model and its rule that are ahead of the last commit.
struct ModelAhead {
  std::shared_ptr<FloatVector> model;
  std::unique_ptr<ModelRule> rule;
};

class Replica {
 public:
  explicit Replica(AgentContext& context)
      : context_(context), on_device_(context.config.execution) {}

  // --- start; errors mean that the stored state is not valid ---
  Status restore(const AgentJobRecord& stored);
  // Restores the stored model, and releases it after copying it. A damaged model is skipped.
  Status restore(ReplicaRecord& stored);
  // True if a stored replica belongs to the job. Requires a job.
  bool owns(const ReplicaRecord& stored) const;

  // --- job ---
  // Takes a job. Returns true if it is another job or has another model; everything of the previous
  // one is then dropped. Returns an error, and changes nothing, for a job that this device cannot
  // run.
  Result<bool> take(const wire::Job& job);
  // Stores the job's record; `done` is called when it is stored.
  void store_job(StoreQueue<AgentRecordToStore>::Done&& done);
  // Stores a change of state; ignores one of another job and an old one. Returns true if the job is
  // over.
  bool change(const wire::JobChange& change);
  // Null if no job has arrived yet.
  const JobModel* job() const { return job_.get(); }
  std::uint64_t job_id() const { return job_ ? job_->job() : 0; }

  // --- model ---
  const std::shared_ptr<FloatVector>& model() const { return model_; }  // null: none
  const ModelRule& rule() const { return *rule_; }                      // requires a job
  const ModelId& id() const { return id_; }
  std::uint64_t version() const { return id_.version; }
  // Whether a device made the steps of the round that led to the model. False after a download.
  bool steps_on_device() const { return steps_on_device_; }
  // Lower and upper bound on the size of a download of the model with the rule's state. Require a
  // job.
  std::uint64_t model_bytes() const { return job_->values() * sizeof(float); }
  std::uint64_t download_bytes_max() const { return model_bytes() + rule_->state_bytes_max(); }

  // A verified download. `rule_state` refers to the download's bytes.
  struct Downloaded {
    ModelId id;
    std::shared_ptr<FloatVector> model;
    ByteSpan rule_state;
  };
  // Verifies a complete download. Returns corrupt_data if a hash differs; changes nothing.
  Result<Downloaded> read(const ModelDownload& download) const;
  // Replaces the model by a verified download.
  Status adopt(Downloaded downloaded);

  // Computes the model after the commit, on the device that decodes if it makes steps
  // (ReplicaOnDevice). Returns false if the model was dropped. `sum` is scratch;
  // the time of decoding is added to `decode_ns`.
  [[nodiscard]] bool apply(const wire::CommitT& commit, const RoundPlan& plan,
                           const std::vector<CommittedBucket>& buckets, FloatVector& sum,
                           TimeNs& decode_ns);
  // The same if the exchanges of the round have already computed that model.
  [[nodiscard]] bool adopt(const wire::CommitT& commit, ModelAhead ahead);
  // A copy of model and rule with which the agent can advance. The model is shared until it is
  // changed.
  ModelAhead go_ahead() const;

  // --- for the journal and the coordinator ---
  enum class Checkpoint : std::uint8_t { now, if_due };
  // The record of the replica's current state, which the caller stores. Its model is due after
  // AgentConfig::checkpoint_rounds rounds, after the last round, and when the job is over.
  ReplicaRecord record(std::uint32_t epoch, const ResidualAccount& residual, Checkpoint checkpoint);
  // True if the last record has this model and all updates of this residual.
  bool recorded(const ResidualAccount& residual) const;
  // The description of job and model for a Hello; null without a job.
  std::unique_ptr<wire::HoldingT> holding() const;

 private:
  Status check_previous(const wire::CommitT& commit) const;
  Status step(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets, FloatVector& sum);
  void note_steps(bool on_device);
  bool finish(const wire::CommitT& commit, const Status& status);
  bool job_over() const;
  bool checkpoint_due() const;

  AgentContext& context_;
  std::shared_ptr<const JobModel> job_;
  AgentJobRecord job_record_;
  std::unique_ptr<ModelRule> rule_;  // the rule of job_
  ModelId id_;                       // kept when the model is dropped
  std::shared_ptr<FloatVector> model_;
  ReplicaOnDevice on_device_;
  bool steps_on_device_ = false;             // of the round that led to the model
  std::optional<std::uint64_t> checkpoint_;  // version of the stored model; empty: none
  std::uint64_t updates_recorded_ = 0;       // number of updates in the last record
};

}  // namespace tributary
