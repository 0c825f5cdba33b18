#include "core/round/coordinator/job/faulty_agents.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "core/round/common/machine/records.h"

namespace tributary {
namespace {

// A restored journal has the round of the fault of every agent that is still excluded.
constexpr std::uint64_t kFaultRoundsMax = kFactsRestored;
constexpr std::uint32_t kAllFaultyMax = 3;
// A search among n suspects gives up log2(n) + 1 attempts. Several agents may be at fault.
constexpr std::uint32_t kSearchesMax = 4;

bool contains(std::span<const std::string> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void erase_all(std::vector<std::string>& from, std::span<const std::string> names) {
  std::erase_if(from, [&](const std::string& name) { return contains(names, name); });
}

}  // namespace

std::uint64_t FaultyAgents::found(const std::string& agent_id, std::uint64_t round) {
  by_numbers_ = true;
  std::erase(suspects_, agent_id);
  Fault& fault = faults_[agent_id];
  // A further fault in the same round is the same fault again.
  if (fault.round == round) return fault.until;
  // The pause doubles with each fault, so an agent that is always at fault costs ever fewer
  // attempts.
  fault.pause = std::clamp<std::uint64_t>(2 * fault.pause, 1, kFaultRoundsMax);
  fault.round = round;
  fault.until = round + fault.pause;
  return fault.until;
}

// One step of a binary search. The bad result contained these contributors, so the cause is among
// the suspects that contributed; the other suspects are set aside. Returns the cause once a single
// suspect is left.
std::optional<std::string> FaultyAgents::search(std::span<const std::string> contributors) {
  by_numbers_ = true;
  std::vector<std::string> now;
  std::ranges::copy_if(suspects_, std::back_inserter(now),
                       [&](const std::string& name) { return contains(contributors, name); });
  if (now.empty()) {
    // No suspect contributed, so the cause is another agent.
    now.assign(contributors.begin(), contributors.end());
    std::ranges::sort(now);
  }
  erase_all(suspects_, now);
  aside_.insert(aside_.end(), suspects_.begin(), suspects_.end());
  suspects_ = std::move(now);
  if (suspects_.size() != 1) return std::nullopt;
  const std::string agent_id = suspects_.front();
  suspects_.clear();
  aside_.clear();
  return agent_id;
}

// Participants of a finite round are cleared of suspicion. A fault is forgiven only to agents whose
// contribution was part of the result.
void FaultyAgents::committed(std::uint64_t round, std::span<const std::string> participants,
                             std::span<const std::string> contributors) {
  by_numbers_ = false;
  erase_all(suspects_, participants);
  if (suspects_.empty()) aside_.clear();
  std::erase_if(faults_, [&](const auto& item) {
    return item.second.round < round && contains(contributors, item.first);
  });
}

void FaultyAgents::replay(std::uint64_t round, const std::map<std::string, std::uint64_t>& left) {
  std::erase_if(faults_, [&](const auto& item) { return !left.contains(item.first); });
  for (const auto& [agent_id, rounds] : left) {
    const std::uint64_t pause = std::min(rounds, kFaultRoundsMax);
    Fault& fault = faults_[agent_id];
    // In the round of the fault the whole pause is left.
    if (fault.until != round + pause) fault = {round, round + pause, pause};
  }
}

Bitmap FaultyAgents::left_out(std::span<const std::string> ready, std::uint64_t round) {
  // An agent that is not there must not keep a search from ending.
  std::erase_if(suspects_, [&](const std::string& name) { return !contains(ready, name); });
  if (suspects_.empty()) aside_.clear();
  // The last suspect is not left out, because only its own attempt shows whether it is the cause.
  const auto half = std::span<const std::string>(suspects_).first(suspects_.size() / 2);
  Bitmap out(ready.size());
  for (std::uint32_t i = 0; i < ready.size(); ++i) {
    // An agent with an earlier fault may have another one, which would be held against a suspect.
    const bool unproven =
        searching() && faults_.contains(ready[i]) && !contains(suspects_, ready[i]);
    if (unproven || excluded(ready[i], round) || contains(half, ready[i]) ||
        contains(aside_, ready[i])) {
      out.set(i);
    }
  }
  return out.count() < ready.size() ? out : Bitmap(ready.size());
}

bool FaultyAgents::excluded(const std::string& agent_id, std::uint64_t round) const {
  const auto found = faults_.find(agent_id);
  return found != faults_.end() && round < found->second.until;
}

std::map<std::string, std::uint64_t> FaultyAgents::rounds_left(std::uint64_t round) const {
  std::map<std::string, std::uint64_t> left;
  for (const auto& [agent_id, fault] : faults_) {
    if (round < fault.until) left[agent_id] = fault.until - round;
  }
  return left;
}

// Returns true if the model itself must be the cause: several times every ready agent was at fault,
// or the searches of this round have used up their attempts. Attempts that ended for other reasons
// do not count.
bool FaultyAgents::gave_up(std::uint64_t round, std::span<const std::string> ready) {
  if (round != round_) attempts_ = all_faulty_ = 0;
  round_ = round;
  if (!by_numbers_) return false;
  by_numbers_ = false;
  ++attempts_;
  const bool all =
      std::ranges::all_of(ready, [&](const std::string& name) { return excluded(name, round); });
  if (all && !ready.empty()) ++all_faulty_;
  const auto steps = static_cast<std::uint32_t>(std::bit_width(ready.size())) + 1;
  return all_faulty_ >= kAllFaultyMax || attempts_ > kSearchesMax * steps;
}

}  // namespace tributary
