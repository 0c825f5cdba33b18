// Turns the results of an attempt into the job's next model: applies them, has the commit stored,
// and then replaces the committed model. Redoes the same from the journal after a restart.
//
// Nothing of a commit is visible before it is stored. At most one commit is on its way at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/commit/committed_model.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary {

class CommitWriter {
 public:
  // `committed` outlives it; the coordinator's store queue does not outlive both.
  CommitWriter(const JobContext& job, CommittedModel& committed)
      : job_(job), committed_(committed) {}

  // The checkpoint, the history and the commits after it. An error: the journal contradicts itself.
  Status restore(RestoredJob& state);

  // What encoding the aggregate again has lost so far, in the units of this plan's learning rate.
  // Empty where no codec of the plan or of an earlier one loses anything there.
  std::span<float> aggregator_residual(const RoundPlan& plan);

  using Done = std::function<void(const RoundRecord&)>;
  // False: no bucket has a finite result, nothing has changed. Else the record is on its way to
  // the journal, with `reports`, which are empty then; `done` is called when it is there.
  bool write(ActiveRound& round, const Membership& membership,
             std::vector<AgentRoundRecord>& reports, Done done);

 private:
  struct Pending {
    Published published;
    CommittedModel::State state;
    bool checkpointed = false;
  };

  Status redo(const CommitRecord& commit);
  std::vector<BucketAggregation*> apply_buckets(ActiveRound& round,
                                                const std::vector<double>& weights,
                                                FloatVector& model);
  CommitRecord record_of(const ActiveRound& round, const std::vector<BucketAggregation*>& buckets,
                         const std::vector<double>& weights, const FloatVector& model);
  bool checkpoint_due() const;
  void stored(Pending pending, const Done& done);

  const JobContext& job_;
  CommittedModel& committed_;
  std::unique_ptr<ModelRule> rule_;
  FloatVector scratch_;
  FloatVector aggregator_residual_;  // of the attempt at work; empty until a codec keeps one
  double residual_rate_ = 0;         // the learning rate in whose units it is; 0: none yet
  std::uint64_t journal_entry_ = 0;
  std::uint64_t checkpoint_version_ = 0;
  std::uint64_t redo_bytes_ = 0;  // since the checkpoint
};

}  // namespace tributary
