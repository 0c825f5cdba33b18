// Predicts the time, bytes and gain of a round for each possible choice.
//
// All functions are pure and need no clock, file or network. Predictions are corrected by the ratio
// of measured to predicted times of earlier rounds, by codec and collective
// (PlanInputs::corrections).
#pragma once

#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "core/plan/inputs/inputs.h"
#include "core/plan/search/agent_ratios.h"

namespace tributary {

// Assumed latency of a link that has not been measured.
inline constexpr double kAssumedAlpha_s = 0.01;

// The predicted cost of one round. Times are those of the slowest agent.
struct PlanCost {
  double compress_s = 0;  // encode an agent's whole update and decode the result
  double exchange_s = 0;  // from the first encoded byte to the end of the round, with overhead
  double round_s = 0;     // training and exchange
  double bytes_up = 0;    // on the link of the busiest agent
  double bytes_down = 0;
  double gain = 1;  // share of the joint update's energy that is kept

  friend bool operator==(const PlanCost&, const PlanCost&) = default;
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
  // Returns the ratio of each agent, or nothing if all keep `ratio`.
  std::vector<double> ratios(const PlanCodec& codec, wire::Collective collective, double ratio,
                             std::uint64_t bucket_values) const;

  // Whether the agents can use this collective: one among peers requires two or more agents that
  // can reach one another.
  bool possible(wire::Collective collective) const;

  const LinkEstimate& slowest_link() const { return slowest_link_; }  // of the slowest agent
  const LinkEstimate& peers() const { return peers_; }  // between the two slowest agents
  // Returns the gain of a codec without a ratio: the mean over the agents that have tried it,
  // weighted by their part in the joint update's energy, or the gain on synthetic values if no
  // agent has.
  double fixed_gain(const PlanCodec& codec) const { return fixed_gains_[place_of(codec)]; }
  // Returns the energy share of the largest 1 % of the values. A change shows that the distribution
  // of updates has changed.
  double curve_gain() const { return gain_.at(0.01); }
  // Whether a link has not been measured, so that an assumed one is used.
  bool assumed() const { return assumed_; }

 private:
  struct Buckets {
    double count = 1;
    std::vector<StagePayload> stages;  // of one
  };

  Buckets buckets_of(const PlanCodec& codec, double ratio, std::uint64_t bucket_values) const;
  RatioBytes bytes_of(const Buckets& buckets, double ratio) const;
  std::vector<double> ratios_of(const PlanCodec& codec, const RatioBytes& bytes) const;
  double settle_s(const RatioBytes& bytes) const;
  LinkEstimate star_link(const RatioBytes& bytes, const std::vector<double>& ratios) const;
  std::size_t place_of(const PlanCodec& codec) const {
    return static_cast<std::size_t>(&codec - inputs_.codecs.data());
  }
  double tried_gain(const PlanCodec& codec) const;
  double gain_of(const PlanCodec& codec, double ratio) const;
  double gain_of_each(const std::vector<double>& ratios) const;

  const PlanInputs& inputs_;
  LinkEstimate slowest_link_;
  LinkEstimate peers_;
  AgentLink slowest_;  // lowest rate in each direction, over all agents
  bool links_differ_ = false;
  bool assumed_ = false;
  double compute_s_ = 0;  // of the slowest agent
  GainPoints gain_;
  std::vector<double> shares_;       // of the joint update's energy, by agent
  std::vector<double> fixed_gains_;  // by index of the codec
  using ByCollective = std::array<double, static_cast<std::size_t>(wire::Collective::MAX) + 1>;
  std::vector<ByCollective> corrections_;  // by index of the codec
};

// Returns the codec that `choice` names, or null if the inputs do not contain it.
const PlanCodec* find_codec(const PlanInputs& inputs, const PlanChoice& choice);
// Returns the choice with its spec as a job's policy takes it and with the ratio that the spec's
// digits represent.
PlanChoice make_choice(const PlanCodec& codec, wire::Collective collective, double ratio,
                       std::uint64_t bucket_values);

}  // namespace tributary
