// The model to which an agent has advanced within a round of several exchanges: the replica's model
// with the results of the exchanges so far, and the residual that becomes part of the next
// exchange's input.
//
// The replica keeps the model of the last commit, to which the agent returns if the round fails.
// The caller applies the exchanges in order, each after all its buckets are complete. All
// references must outlive the object. Memory: two models. Not thread-safe.
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

  // Applies the results of an exchange. The first call starts from the replica's model. Returns the
  // error of a payload that cannot be decoded, and not_finite if the model would not be.
  Status apply(AgentRound& round, std::uint32_t exchange);
  // Sets the start of the next exchange's input to the residual of this one.
  void leave(const std::vector<ContributionPart>& parts);
  // Adds the next update to the input.
  void add_to_input(std::span<const float> update, float weight);
  // The round is over. Drops model and input.
  void clear();

  bool begun() const { return ahead_.has_value(); }
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
  const AgentContext& context_;
  const Replica& replica_;
  EncoderCache& encoders_;
  FloatVector& scratch_;
  std::optional<ModelAhead> ahead_;
  std::shared_ptr<FloatVector> input_;  // null until an exchange has left a residual
};

}  // namespace tributary
