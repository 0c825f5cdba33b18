#include "core/round/coordinator/context/stragglers.h"

#include <algorithm>

namespace tributary {
namespace {

constexpr std::uint32_t kPatienceAfterMax = 1024;  // rounds

}  // namespace

std::optional<std::uint32_t> Stragglers::missed_stage(const std::string& agent_id) const {
  const auto found = late_.find(agent_id);
  return found == late_.end() ? std::nullopt : std::optional<std::uint32_t>(found->second.stage);
}

bool Stragglers::needs_patience(const std::string& agent_id, bool uploads) const {
  const auto found = late_.find(agent_id);
  if (found == late_.end()) return false;
  const std::uint32_t factor = uploads ? kRoundsFactorOfUploads : 1;
  return found->second.rounds_without >= factor * found->second.patience_after;
}

void Stragglers::ended(std::uint64_t round, TimeNs limit_ns) {
  rounds_.push_back({.round = round, .limit_ns = limit_ns});
  if (rounds_.size() > kRoundsKept) rounds_.pop_front();
  for (auto& [agent_id, late] : late_) ++late.rounds_without;
}

void Stragglers::missed(const std::string& agent_id, std::uint32_t stage, bool patient) {
  // ended() has counted the round that it missed now, unless it is the first one.
  Late& late = late_.try_emplace(agent_id, Late{.rounds_without = 1}).first->second;
  late.stage = stage;
  if (!patient || late.rounds_without <= late.patience_after) return;
  late.rounds_without = 0;
  late.patience_after = std::min(2 * late.patience_after, kPatienceAfterMax);
}

void Stragglers::contributed(const std::string& agent_id, std::uint64_t trained_round,
                             TimeNs at_ns) {
  const auto late = late_.find(agent_id);
  if (late == late_.end()) return;
  late->second.rounds_without = 0;
  late->second.patience_after = kRoundsWithoutMax;
  const auto trained = std::ranges::find(rounds_, trained_round, &Ended::round);
  if (trained != rounds_.end() && at_ns <= trained->limit_ns) late_.erase(late);
}

}  // namespace tributary
