// Predicts the time, bytes and gain of a round for each possible choice.
//
// All functions are pure and need no clock, file or network. A prediction is one for each world of
// the belief (PlanInputs::worlds); the cost of a choice is their geometric mean. Without worlds,
// the links are those of PlanInputs::agents and no factor is known.
#pragma once

#include <iterator>
#include <string>
#include <vector>

#include "core/plan/inputs/inputs.h"
#include "core/plan/inputs/world.h"
#include "core/plan/search/agent_ratios.h"

namespace tributary {

// The predicted cost of one round. Times are those of the slowest agent.
struct PlanCost {
  double compress_s = 0;  // encode an agent's whole update and decode the result
  // From the first encoded byte to the end of the round, with overhead, without what the training
  // of the next round hides.
  double exchange_s = 0;
  double round_s = 0;   // training and exchange
  double bytes_up = 0;  // on the link of the busiest agent
  double bytes_down = 0;
  double gain = 1;  // share of the joint update's energy that is kept

  friend bool operator==(const PlanCost&, const PlanCost&) = default;
};

// The part of a prediction that is the same in all worlds.
struct PreparedExchange {
  wire::Collective collective = wire::Collective::star;
  std::size_t codec = 0;  // index in PlanInputs::codecs
  double buckets = 1;
  std::vector<StagePayload> stages = {};  // of one bucket
  double decode_s = 0;                    // of one bucket
  RatioBytes bytes = {};                  // of the whole update
  std::vector<double> ratios = {};        // by agent; empty: all have bytes.ratio
};

// An exchange until the last agent has the result, and what follows until the round is committed.
// By the star the second part is the overhead alone; among peers it is the upload of the results.
struct ExchangeParts {
  double exchange_s = 0;
  double upload_s = 0;
};

// Everything that the predictions for one plan have in common, computed once from the inputs.
// Immutable after construction, so all threads may share it.
class PlanPredictor {
 public:
  // `inputs` must have passed check() and must outlive this object.
  explicit PlanPredictor(const PlanInputs& inputs);

  // Returns the cost of a choice. `codec` must be an element of inputs.codecs. In a star, agents
  // with slow links keep a smaller ratio.
  PlanCost cost(const PlanCodec& codec, wire::Collective collective, double ratio,
                std::uint64_t bucket_values) const;
  // The same in the typical world alone, which is quick.
  PlanCost typical_cost(const PlanCodec& codec, wire::Collective collective, double ratio,
                        std::uint64_t bucket_values) const;
  PreparedExchange prepare(const PlanCodec& codec, wire::Collective collective, double ratio,
                           std::uint64_t bucket_values) const;
  // Returns the duration of an exchange, with overhead. `world` must have a value for each agent
  // and codec of the inputs, and must be summarized.
  ExchangeParts parts_s(const PreparedExchange& prepared, const PlanWorld& world) const;
  // The same, the sum of the parts.
  double exchange_s(const PreparedExchange& prepared, const PlanWorld& world) const {
    const ExchangeParts parts = parts_s(prepared, world);
    return parts.exchange_s + parts.upload_s;
  }
  // The same without the part of an upload that a training hides: the time by which a round is
  // longer than its training.
  double beyond_training_s(const PreparedExchange& prepared, const PlanWorld& world) const;
  // The belief's worlds, or the only one. Never empty.
  const std::vector<PlanWorld>& worlds() const { return worlds_; }
  const PlanWorld& typical() const { return typical_; }
  double compute_s() const { return compute_s_; }  // training time of the slowest agent
  // Returns the ratio of each agent, or nothing if all keep `ratio`.
  std::vector<double> ratios(const PlanCodec& codec, wire::Collective collective, double ratio,
                             std::uint64_t bucket_values) const;

  // Whether the agents can use this collective: one among peers requires two or more agents that
  // can reach one another, and in_network an aggregator for them.
  bool possible(wire::Collective collective) const;
  // The same with this codec. An aggregator in the network adds payloads of one codec only.
  bool possible(const PlanCodec& codec, wire::Collective collective) const {
    return possible(collective) &&
           (collective != wire::Collective::in_network || codec.spec == kInNetworkCodec);
  }
  // Whether a plan may choose them: they are possible, and the policy allows both.
  bool allowed(const PlanCodec& codec) const;
  bool allowed(const PlanCodec& codec, wire::Collective collective) const;

  // The slowest agent's link, and that between the two slowest agents, in the typical world.
  LinkEstimate slowest_link() const;
  const LinkEstimate& peers() const { return typical_.peers; }
  // Returns the gain of a codec without a ratio: the mean over the agents that have tried it,
  // weighted by their part in the joint update's energy, or the gain on synthetic values if no
  // agent has.
  double fixed_gain(const PlanCodec& codec) const { return fixed_gains_[place_of(codec)]; }
  // Returns the energy share of the largest 1 % of the values. A change shows that the distribution
  // of updates has changed.
  double curve_gain() const { return gain_.at(0.01); }

 private:
  bool hides_upload(wire::Collective collective) const {
    return inputs_.trains_ahead && inputs_.settled && collective != wire::Collective::star;
  }
  std::vector<double> ratios_of(const PlanCodec& codec, const RatioBytes& bytes) const;
  double star_rate(const PreparedExchange& prepared, const PlanWorld& world,
                   const RatioBytes& bytes) const;
  std::size_t place_of(const PlanCodec& codec) const {
    return static_cast<std::size_t>(&codec - inputs_.codecs.data());
  }
  PlanCost cost_of(const PreparedExchange& prepared, double ratio) const;
  double tried_gain(const PlanCodec& codec) const;
  double gain_of(const PlanCodec& codec, double ratio) const;
  double gain_of_each(const std::vector<double>& ratios) const;

  const PlanInputs& inputs_;
  std::vector<PlanWorld> worlds_;
  PlanWorld typical_;
  bool links_differ_ = false;
  bool star_stands_in_ = false;  // no collective that the policy allows is possible
  double compute_s_ = 0;         // of the slowest agent
  GainPoints gain_;
  std::vector<double> shares_;       // of the joint update's energy, by agent
  std::vector<double> fixed_gains_;  // by index of the codec
};

// Returns the codec that `choice` names, or null if the inputs do not contain it.
const PlanCodec* find_codec(const PlanInputs& inputs, const PlanChoice& choice);
// Returns the choice with its spec as a job's policy takes it and with the ratio that the spec's
// digits represent.
PlanChoice make_choice(const PlanCodec& codec, wire::Collective collective, double ratio,
                       std::uint64_t bucket_values);

}  // namespace tributary
