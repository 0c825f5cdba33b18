// The model to which an agent has advanced within a round: the replica's model with the results so
// far, and the residual that becomes part of the next exchange's input.
//
// The replica keeps the model of the last commit, to which the agent returns if the round fails.
// Buckets are applied in order, each as soon as its results are here, so that little is left to do
// when the last ones arrive. Only results of all participants are applied, because a commit gives
// these the divisor that the plan implies. All references must outlive the object. Memory: a model
// and the optimizer's state, and another model in a round of several exchanges. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/encoder_cache.h"

namespace tributary {

class AheadOfCommit {
 public:
  // `scratch` is used only within calls.
  AheadOfCommit(const AgentContext& context, const Replica& replica, EncoderCache& encoders,
                FloatVector& scratch)
      : context_(context), replica_(replica), encoders_(encoders), scratch_(scratch) {}

  // Copies the replica's model and the optimizer's state, if that has not been done. A caller that
  // waits for results does it meanwhile.
  void begin();
  // True if the next bucket has the results of all participants.
  bool has_next(const AgentRound& round) const;
  // Applies that bucket. Returns the error of a payload that cannot be decoded, and after an
  // exchange among peers not_finite if the model would not be; the model is then of no use, and no
  // bucket follows.
  Status apply_next(AgentRound& round);
  // Applies the buckets of the exchange that are left, and settles its encoders. Requires their
  // results and that another exchange follows.
  Status finish(AgentRound& round, std::uint32_t exchange);
  // True if all buckets of the round are applied.
  bool complete(const AgentRound& round) const { return applied_.size() == round.work().size(); }
  // True if the commit has exactly the results that are applied, so that release() is its model.
  // Applies buckets that are left if it may have them.
  bool becomes(const wire::CommitT& commit, AgentRound& round);
  // Sets the start of the next exchange's input to the residual of this one.
  void leave(const std::vector<ContributionPart>& parts);
  // Adds the next update to the input.
  void add_to_input(std::span<const float> update, float weight);
  // The round is over. Drops model and input.
  void clear();

  bool begun() const { return ahead_.has_value(); }
  bool failed() const { return failed_; }  // a call has returned an error
  // The model and the rule from which the next exchange starts: the replica's until an exchange has
  // been applied.
  const std::shared_ptr<FloatVector>& model() const {
    return ahead_ ? ahead_->model : replica_.model();
  }
  // Whether a training may follow this round before its commit: the agent trains ahead, the job has
  // a further round, and the learning rate stays.
  bool may_train_after(std::uint64_t round) const {
    const JobModel& job = *replica_.job();
    return context_.config.train_ahead && round < job.wire().rounds() &&
           job.rate_stays_after(round);
  }
  const ModelRule& rule() const { return ahead_ ? *ahead_->rule : replica_.rule(); }
  const std::shared_ptr<FloatVector>& input() const { return input_; }
  ModelAhead release() { return *std::exchange(ahead_, std::nullopt); }

 private:
  Status apply(AgentRound& round);

  const AgentContext& context_;
  const Replica& replica_;
  EncoderCache& encoders_;
  FloatVector& scratch_;
  std::optional<ModelAhead> ahead_;
  std::vector<SharedBytes> applied_;  // the result of the last stage of each applied bucket
  bool failed_ = false;
  std::shared_ptr<FloatVector> input_;  // null until an exchange has left a residual
};

}  // namespace tributary
