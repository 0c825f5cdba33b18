// Compares the prediction for a round with the measured result, and describes the decision behind
// it. Pure functions, without widgets.
//
// The table must not change during a call. The cost is linear in the rounds since the decision.
#pragma once

#include <QString>
#include <cstdint>

#include "core/run/round_detail.h"
#include "dashboard/pages/plan/choices.h"

namespace tributary::dashboard {

struct DecisionFacts {
  std::uint64_t round = 0;
  std::uint64_t decided_in = 0;  // the round whose plan states the reason
  QString choice = {};           // empty: the plan has not been read
  QString trigger = {};
  double predicted_s = 0;  // NaN: no prediction
  double measured_s = 0;
  // Number and median time of the rounds since that decision, up to the next one.
  std::size_t rounds = 0;
  double median_s = 0;
};

DecisionFacts decision_facts(const RoundTable& table, std::size_t row);

// Example: "Round 60, as decided in round 54 (link changed)".
QString decision_heading(const DecisionFacts& facts);
// Example: "Predicted 732 ms, took 741 ms (1.2 % more). The 7 rounds since the decision: 735 ms in
// the middle."
QString decision_times(const DecisionFacts& facts);
// Returns the planner's reason, or an explanation if there is none.
QString decision_sentence(const RoundDetail& detail);

}  // namespace tributary::dashboard
