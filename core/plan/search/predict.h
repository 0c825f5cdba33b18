// What a choice would cost, and how much of an update it would let through.
#pragma once

#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "core/plan/inputs/inputs.h"
#include "core/plan/search/agent_ratios.h"

namespace tributary {

inline constexpr double kAssumedAlpha_s = 0.01;  // of a line that nobody has measured yet

// Of one round. Times are of what the slowest agent waits for.
struct PlanCost {
  double compress_s = 0;  // to encode an agent's whole update, and to decode what comes back
  double exchange_s = 0;  // from the first byte encoded until the round is over
  double round_s = 0;     // with the training before it
  double bytes_up = 0;    // over the line of the busiest agent
  double bytes_down = 0;
  double gain = 1;  // the share of the joint update's energy that gets through

  friend bool operator==(const PlanCost&, const PlanCost&) = default;
};

// What all predictions of one plan have in common, made from the inputs once.
class PlanPredictor {
 public:
  // `inputs` have been checked, and outlive it.
  explicit PlanPredictor(const PlanInputs& inputs);

  // Of one of the inputs' codecs. By the star, agents with slow lines keep less of what has a
  // ratio.
  PlanCost cost(const PlanCodec& codec, wire::Collective collective, double ratio,
                std::uint64_t bucket_values) const;
  // By agent, where they are not all the ratio itself.
  std::vector<double> ratios(const PlanCodec& codec, wire::Collective collective, double ratio,
                             std::uint64_t bucket_values) const;

  // Whether agents may do that here: among peers only where they reach one another, and never
  // alone.
  bool possible(wire::Collective collective) const;

  const LinkEstimate& line() const { return line_; }    // of the slowest agent
  const LinkEstimate& peers() const { return peers_; }  // between the two that are slowest
  // What a codec without a ratio lets through: of agents that have tried it what they found, by
  // their part in the joint update's energy, and otherwise as it was measured on made-up values.
  double fixed_gain(const PlanCodec& codec) const { return fixed_gains_[place_of(codec)]; }
  // What 1 % of the values hold: tells whether updates are what they were.
  double curve_gain() const { return gain_.at(0.01); }
  // Nothing was measured of some line, so that an assumed one stands for it.
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
  LinkEstimate star_line(const RatioBytes& bytes, const std::vector<double>& ratios) const;
  std::size_t place_of(const PlanCodec& codec) const {
    return static_cast<std::size_t>(&codec - inputs_.codecs.data());
  }
  double tried_gain(const PlanCodec& codec) const;
  double gain_of(const PlanCodec& codec, double ratio) const;
  double gain_of_each(const std::vector<double>& ratios) const;

  const PlanInputs& inputs_;
  LinkEstimate line_;
  LinkEstimate peers_;
  AgentLine slowest_;  // in each direction, of any agent
  bool lines_differ_ = false;
  bool assumed_ = false;
  double compute_s_ = 0;  // of the slowest
  GainPoints gain_;
  std::vector<double> shares_;       // of the joint update's energy, by agent
  std::vector<double> fixed_gains_;  // by codec
  using ByCollective = std::array<double, static_cast<std::size_t>(wire::Collective::MAX) + 1>;
  std::vector<ByCollective> corrections_;  // by codec
};

// The codec that a choice names; null: none of these.
const PlanCodec* find_codec(const PlanInputs& inputs, const PlanChoice& choice);
// The choice with its spec as a job's policy takes it, and the ratio as the spec says it.
PlanChoice make_choice(const PlanCodec& codec, wire::Collective collective, double ratio,
                       std::uint64_t bucket_values);

}  // namespace tributary
