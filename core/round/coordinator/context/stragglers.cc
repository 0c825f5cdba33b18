#include "core/round/coordinator/context/stragglers.h"

#include <algorithm>

namespace tributary {

std::optional<std::uint32_t> Stragglers::missed_stage(const std::string& agent_id) const {
  const auto found = late_.find(agent_id);
  return found == late_.end() ? std::nullopt : std::optional<std::uint32_t>(found->second);
}

void Stragglers::ended(std::uint64_t round, TimeNs limit_ns) {
  rounds_.push_back({.round = round, .limit_ns = limit_ns});
  if (rounds_.size() > kRoundsKept) rounds_.pop_front();
}

void Stragglers::contributed(const std::string& agent_id, std::uint64_t trained_round,
                             TimeNs at_ns) {
  const auto found = std::ranges::find(rounds_, trained_round, &Ended::round);
  if (found != rounds_.end() && at_ns <= found->limit_ns) late_.erase(agent_id);
}

}  // namespace tributary
