// What was predicted of a round and what came of it.
#pragma once

#include <QString>
#include <cstdint>

#include "core/run/round_detail.h"
#include "dashboard/pages/plan/choices.h"

namespace tributary::dashboard {

struct DecisionFacts {
  std::uint64_t round = 0;
  std::uint64_t decided_in = 0;  // the round whose plan says why
  QString choice = {};           // empty: the plan has not been read
  QString trigger = {};
  double predicted_s = 0;  // NaN: nothing was
  double measured_s = 0;
  // Of the rounds since that decision, up to the next one.
  std::size_t rounds = 0;
  double median_s = 0;
};

DecisionFacts decision_facts(const RoundTable& table, std::size_t row);

// "Round 60, as decided in round 54 (link changed)".
QString decision_heading(const DecisionFacts& facts);
// "predicted 732 ms, took 741 ms (1 % more); the 7 rounds since the decision took 735 ms in the
// middle".
QString decision_times(const DecisionFacts& facts);
// The reason, or why there is none.
QString decision_sentence(const RoundDetail& detail);

}  // namespace tributary::dashboard
