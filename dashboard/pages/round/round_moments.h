// Finds the faults of a round in the run's events: aborted attempts, peer exchanges that the
// coordinator took over, and agents that withdrew or sent unusable payloads. Pure function; any
// thread.
#pragma once

#include <QString>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/run/run_changes.h"

namespace tributary::dashboard {

inline constexpr std::size_t kRoundMomentsMax = 64;  // only the first ones are kept

struct RoundMoment {
  double at_s = 0;            // s since the start of the successful attempt; negative: before it
  std::string agent_id = {};  // empty: concerns all agents
  QString text = {};
  friend bool operator==(const RoundMoment&, const RoundMoment&) = default;
};

// Returns the faults in the order of time. `began_s` is the start of the round in its row.
std::vector<RoundMoment> moments_of(const std::deque<EventRow>& events, std::uint64_t job,
                                    std::uint64_t round, double began_s);

}  // namespace tributary::dashboard
