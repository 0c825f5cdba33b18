// The planner's belief at a decision, as charts show it, and its judgement of the choice before.
//
// Computed from the inputs that are stored with the decision. They come from a file and may be
// anything: a decision without a readable belief has a reason instead. Bounded, whatever the number
// of agents. Any thread may call belief_of().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/explain.h"
#include "core/run/round_detail.h"

namespace tributary::dashboard {

// If more agents than this take part, the slowest, the middle and the fastest link stand for all.
inline constexpr std::size_t kBeliefLinksMax = 4;

struct DecisionBelief {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::vector<BelievedLink> links = {};
  BeliefBand expected_s = {};  // of a round with the choice
  // The choice that was in force before, judged by this belief. Empty if there was none or it
  // cannot be judged.
  std::optional<PlanHindsight> before = {};
  std::string why_not = {};  // why the belief is unknown; empty: it is known

  bool known() const { return why_not.empty(); }
};

// Null if the round's plan contains no decision of a planner.
std::shared_ptr<const DecisionBelief> belief_of(const RoundDetail& detail);

}  // namespace tributary::dashboard
