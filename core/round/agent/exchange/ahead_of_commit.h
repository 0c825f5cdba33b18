// The model that an agent has gone ahead with in a round of several exchanges: the replica's, with
// the results of the exchanges so far, and what is left over for the next exchange.
//
// The replica keeps the model of the last commit, to which the agent goes back if the round comes
// to nothing. The caller applies the exchanges in order, each once all its buckets are whole. What
// it works with is borrowed and outlives it.
//
// Memory: two models. Threads: one at a time.
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
  // `scratch` is used within calls only.
  AheadOfCommit(const AgentContext& context, const Replica& replica, EncoderCache& encoders,
                FloatVector& scratch)
      : context_(context), replica_(replica), encoders_(encoders), scratch_(scratch) {}

  // Applies the results of an exchange. The first one begins with the replica's model.
  Status apply(AgentRound& round, std::uint32_t exchange);
  // The input of the next exchange begins with what this one has left over.
  void leave(const std::vector<ContributionPart>& parts);
  // The next update is there.
  void add_to_input(std::span<const float> update, float weight);
  // The round is over.
  void clear();

  bool begun() const { return ahead_.has_value(); }
  // Only once it has begun.
  const std::shared_ptr<FloatVector>& model() const { return ahead_->model; }
  const std::shared_ptr<FloatVector>& input() const { return input_; }
  ModelAhead release() { return *std::exchange(ahead_, std::nullopt); }

 private:
  const AgentContext& context_;
  const Replica& replica_;
  EncoderCache& encoders_;
  FloatVector& scratch_;
  std::optional<ModelAhead> ahead_;
  std::shared_ptr<FloatVector> input_;  // null until an exchange has left something over
};

}  // namespace tributary
