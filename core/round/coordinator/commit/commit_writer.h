// Turns the results of an attempt into the job's next model: applies them, has the commit stored,
// and then replaces the committed model. After a restart it repeats this from the journal.
//
// No other object sees anything of a commit before it is stored. At most one commit is being stored
// at any time. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/round/common/plan/model_rule.h"
#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/commit/committed_model.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary {

class CommitWriter {
 public:
  // Results from this size on take the memory of the round before, if no connected agent needs it.
  // Smaller ones leave it until the commit is stored, so that the next model need not fit between
  // other vectors.
  static constexpr std::uint64_t kLargeResultsBytes = kLargeModelBytes;

  // `job` and `committed` must outlive the object. The coordinator's store queue must not run
  // callbacks after the object is destroyed.
  CommitWriter(const JobContext& job, CommittedModel& committed,
               std::uint64_t large_results_bytes = kLargeResultsBytes)
      : job_(job), committed_(committed), large_results_bytes_(large_results_bytes) {}

  // Restores the checkpoint, the history and the commits after it. Returns corrupt_data if the
  // journal contradicts itself.
  Status restore(RestoredJob& state);

  // The accumulated loss of encoding aggregates again, in the units of this plan's learning rate.
  // Empty if neither this plan nor an earlier one has a codec with such a loss. Valid until the
  // next call.
  std::span<float> aggregator_residual(const RoundPlan& plan);

  // The committed model and its rule, for an attempt that ends before the next write().
  RoundStart start() const { return {.rule = rule_.get(), .model = committed_.state().values}; }

  // True if apply_next() has a bucket to apply: its result is final, and so are those of all
  // buckets before it.
  bool has_next(const ActiveRound& round) const;
  // Applies that bucket while the attempt waits for others, so that write() has less to do when the
  // last one arrives. Requires that write() or forget() follows, with the same round.
  void apply_next(ActiveRound& round, const Membership& membership);
  // The attempt is given up.
  void forget();

  // Frees results of earlier rounds of a large model that take much memory, if no connected agent
  // needs them.
  void free_past_results();

  using Done = std::function<void(const RoundRecord&)>;
  // Applies the results and pushes the commit, with `reports`, to the store queue. `reports` is
  // empty afterwards. `done` is called when the commit is stored. Returns false, and changes
  // nothing, if the model or the rule's state would not be finite; the bucket is marked then.
  bool write(ActiveRound& round, const Membership& membership,
             std::vector<AgentRoundRecord>& reports, Done done);

 private:
  // The state that becomes visible when the record is stored.
  struct Pending {
    Published published;
    CommittedModel::State state;
    bool checkpointed = false;
  };

  // The model after the attempt that is running, with the buckets whose results are applied.
  struct Next {
    std::shared_ptr<FloatVector> model = nullptr;
    SharedBytes rule_before = nullptr;             // to which forget() returns
    std::vector<BucketAggregation*> applied = {};  // in ascending order
    std::size_t buckets = 0;                       // that are applied or have no result
    bool failed = false;                           // a step is not finite; write() finds it again
  };

  // Applies a stored commit. Returns corrupt_data if the hashes do not match.
  Status redo(const CommitRecord& commit);
  void begin_next();
  Status apply(const ActiveRound& round, BucketAggregation& bucket,
               const std::vector<double>& weights);
  bool apply_rest(ActiveRound& round, const std::vector<double>& weights);
  CommitRecord record_of(const ActiveRound& round, const Membership& membership,
                         const std::vector<BucketAggregation*>& buckets,
                         const std::vector<double>& weights, const FloatVector& model);
  bool settle_early(const ActiveRound& round, const std::vector<double>& weights);
  void drop_past_payloads(const ActiveRound& round);
  bool checkpoint_due() const;
  void stored(Pending pending, const Done& done);

  const JobContext& job_;
  CommittedModel& committed_;
  const std::uint64_t large_results_bytes_;
  std::unique_ptr<ModelRule> rule_;
  std::optional<Next> next_;  // empty: no bucket of the attempt is applied
  FloatVector scratch_;
  double residual_rate_ = 0;  // the learning rate in whose units the residual is; 0: none yet
  std::uint64_t journal_entry_ = 0;
  std::uint64_t checkpoint_version_ = 0;
  std::uint64_t redo_bytes_ = 0;  // bytes of redo since the checkpoint
};

}  // namespace tributary
