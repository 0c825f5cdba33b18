// What went wrong on a round's way, as its events tell: attempts that were given up, exchanges
// among peers that had to be done over the coordinator, agents that dropped out or sent what cannot
// be used.
#pragma once

#include <QString>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/run/run_changes.h"

namespace tributary::dashboard {

inline constexpr std::size_t kRoundMomentsMax = 64;  // the first ones

struct RoundMoment {
  double at_s = 0;            // since the attempt that counted began; below 0: before
  std::string agent_id = {};  // empty: of all
  QString text = {};
  friend bool operator==(const RoundMoment&, const RoundMoment&) = default;
};

// In the order of time. `began_s` as the round's row has it.
std::vector<RoundMoment> moments_of(const std::deque<EventRow>& events, std::uint64_t job,
                                    std::uint64_t round, double began_s);

}  // namespace tributary::dashboard
