// A decision of a run with the belief behind it and what came of it, as text and as JSON.
//
// Plain values and pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/explain.h"

namespace tributary {

struct ExplainedDecision {
  std::string job = {};
  std::uint64_t round = 0;       // the round that was asked for
  std::uint64_t decided_in = 0;  // the round whose plan contains the decision
  std::string trigger = {};
  std::string reason = {};
  PlanExplanation belief = {};
  // Durations of the rounds from the decision up to the next one, training included.
  std::vector<double> measured_s = {};
  // The round of the next decision, whose belief judges this one; 0: there is none.
  std::uint64_t next_decision = 0;
  std::optional<PlanHindsight> hindsight = {};
  std::string no_hindsight = {};  // why there is none
};

// With many agents, the slowest, the middle and the fastest link of each kind.
std::string explained_text(const ExplainedDecision& decision);
// With all links.
nlohmann::ordered_json explained_json(const ExplainedDecision& decision);

}  // namespace tributary
