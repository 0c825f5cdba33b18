// An agent's replica: its job, the model of one version, and the rule that makes the next model.
//
// The caller passes commits and downloads that belong to the replica's job, and stores record()
// after each change of the model. A commit whose result is not the coordinator's model is noted,
// and the replica loses its model: the caller has it transferred again. A part of the model that is
// shared with others is never changed in place.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/replica/model_download.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/residual_account.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// A model and its rule that have gone further than the last commit.
struct ModelAhead {
  std::shared_ptr<FloatVector> model;
  std::unique_ptr<ModelRule> rule;
};

class Replica {
 public:
  explicit Replica(AgentContext& context) : context_(context) {}

  // --- start; an error means that the journal is not this agent's ---
  Status restore(const AgentJobRecord& stored);
  // Lets go of the stored model once it is copied. One that is damaged is left out.
  Status restore(ReplicaRecord& stored);
  // Whether a stored replica belongs to the job. Only with a job.
  bool owns(const ReplicaRecord& stored) const;

  // --- job ---
  // True: the job or its model is another, and nothing of the one before is left. A job that this
  // device cannot take is an error, and changes nothing.
  Result<bool> take(const wire::Job& job);
  // Stores the job's record; `done` is called when it is stored.
  void store_job(StoreQueue<AgentRecordToStore>::Done&& done);
  // Stores the change unless it is of another job or not new.
  void change(const wire::JobChange& change);
  // Null: none yet.
  const JobModel* job() const { return job_.get(); }
  std::uint64_t job_id() const { return job_ ? job_->job() : 0; }

  // --- model ---
  const std::shared_ptr<FloatVector>& model() const { return model_; }  // null: none
  const ModelId& id() const { return id_; }
  std::uint64_t version() const { return id_.version; }
  // The least and the most bytes of a download of the model with the rule's state. Only with a job.
  std::uint64_t model_bytes() const { return job_->values() * sizeof(float); }
  std::uint64_t download_bytes_max() const { return model_bytes() + rule_->state_bytes_max(); }

  // Borrows from the download.
  struct Downloaded {
    ModelId id;
    std::shared_ptr<FloatVector> model;
    ByteSpan rule_state;
  };
  // Checks a complete download that is offered; changes nothing.
  Result<Downloaded> read(const ModelDownload& download) const;
  Status adopt(Downloaded downloaded);

  // Makes the model after the commit. False: the model is lost. `sum` is scratch; `decode_ns` grows
  // by the time that decoding takes.
  [[nodiscard]] bool apply(const wire::CommitT& commit, const RoundPlan& plan,
                           const std::vector<CommittedBucket>& buckets, FloatVector& sum,
                           TimeNs& decode_ns);
  // The same where the round's exchanges have made that model already.
  [[nodiscard]] bool adopt(const wire::CommitT& commit, ModelAhead ahead);
  // A copy of the state to go on from. The model is shared until it is changed.
  Result<ModelAhead> go_ahead() const;

  // --- for the journal and the coordinator ---
  ReplicaRecord record(std::uint32_t epoch, const ResidualAccount& residual) const;
  // Job and model; null where there is no job.
  std::unique_ptr<wire::HoldingT> holding() const;

 private:
  Status check_previous(const wire::CommitT& commit) const;
  bool finish(const wire::CommitT& commit, const Status& status);

  AgentContext& context_;
  std::shared_ptr<const JobModel> job_;
  AgentJobRecord job_record_;
  std::unique_ptr<ModelRule> rule_;  // of job_
  ModelId id_;                       // stays when the model is lost
  std::shared_ptr<FloatVector> model_;
};

}  // namespace tributary
