// Plays rounds of a federation by the truth: training, exchange, noise and progress.
//
// The same federation, settings and seed give the same rounds for the same choices. Not
// thread-safe. The federation must outlive the object.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/closed_loop/truth/plan_scenario.h"
#include "coordinator/closed_loop/truth/true_exchange.h"
#include "coordinator/closed_loop/truth/true_federation.h"
#include "core/plan/inputs/inputs.h"
#include "core/sim/scenario/draws.h"

namespace tributary {

struct TrueRound {
  double began_s = 0;
  double ends_s = 0;
  // The slowest member's, from the beginning of the round on.
  double training_s = 0;
  double gain = 0;
  double bytes_up = 0;  // mean of the members, if they upload their own payloads; otherwise 0
  std::vector<std::uint32_t> members = {};
  // By member: the part of its training that was over when the round began.
  std::vector<double> hidden_s = {};
  // With times as the nodes see them, noise included.
  TrueExchanged exchanged = {};
};

// Returns the part of `gain` that a round by this choice adds to the progress. `ratios` are those
// of the members; empty: all keep the ratio of the choice.
double true_gain(const TrueFederation& federation, const PlanChoice& choice,
                 const std::vector<double>& ratios, std::size_t members);

class TrueRounds {
 public:
  // Without noise every round takes the time that follows from links and factors.
  TrueRounds(const PlanScenario& scenario, const TrueFederation& federation,
             std::optional<std::uint64_t> noise_seed);

  // `choice` must name a declared codec. `ratios` are in the order of TrueFederation::agents;
  // empty: all keep the ratio of the choice. At least one agent must be present.
  TrueRound play(const PlanChoice& choice, const std::vector<double>& ratios, double began_s);

 private:
  TrueWork work_of(const PlanChoice& choice, const std::vector<double>& ratios,
                   const TrueRound& round) const;
  double drawn_noise();

  const HiddenSettings hidden_;
  const bool train_ahead_;
  const TrueFederation& federation_;
  const std::uint64_t values_;
  const std::vector<PlanCodec> codecs_;
  TcpWindows windows_;
  // When the members of the last round began to train for the next one, ahead of its commit.
  std::map<std::uint32_t, double> began_ahead_s_;
  std::optional<SeededDraws> noise_;
};

// Returns the mean factor that noise has on the time of an exchange.
double mean_noise(const HiddenSettings& hidden);

}  // namespace tributary
