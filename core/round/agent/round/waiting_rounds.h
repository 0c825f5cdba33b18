// Rounds that have been planned and cannot begin here yet: their model or their epoch is still to
// come. What comes for them meanwhile is kept in them.
//
// There are at most four; the earliest ones stay. A later attempt at a round replaces those before.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "core/round/agent/round/agent_round.h"

namespace tributary {

class WaitingRounds {
 public:
  static constexpr std::size_t kRoundsMax = 4;

  void add(std::unique_ptr<AgentRound> round) {
    const RoundKey key = round->key();
    std::erase_if(rounds_, [&](const auto& other) {
      return other.first.round == key.round && other.first < key;
    });
    rounds_.try_emplace(key, std::move(round));
    if (rounds_.size() > kRoundsMax) rounds_.erase(std::prev(rounds_.end()));
  }
  // Null: it does not wait.
  AgentRound* find(const RoundKey& key) {
    const auto found = rounds_.find(key);
    return found == rounds_.end() ? nullptr : found->second.get();
  }
  // The earliest that can begin, by a condition on its plan. Null: none.
  template <typename CanBegin>
  std::unique_ptr<AgentRound> take_first(const CanBegin& can_begin) {
    const auto first = std::ranges::find_if(
        rounds_, [&](const auto& each) { return can_begin(each.second->plan()); });
    return first == rounds_.end() ? nullptr : std::move(rounds_.extract(first).mapped());
  }

  void erase(const RoundKey& key) { rounds_.erase(key); }
  // These are committed.
  void erase_up_to(std::uint64_t round) {
    std::erase_if(rounds_, [&](const auto& each) { return each.first.round <= round; });
  }
  void clear() { rounds_.clear(); }

  std::uint64_t bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [key, round] : rounds_) bytes += round->bytes();
    return bytes;
  }

 private:
  std::map<RoundKey, std::unique_ptr<AgentRound>> rounds_;
};

}  // namespace tributary
