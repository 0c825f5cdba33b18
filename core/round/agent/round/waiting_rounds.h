// Planned rounds that cannot begin yet, because their model or their epoch has not arrived.
// Aggregates that arrive early are stored in them.
//
// At most four rounds are kept; if there are more, the latest is dropped. A later attempt at a
// round replaces earlier attempts. Not thread-safe.
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
  // Bounds the memory for early aggregates.
  static constexpr std::size_t kRoundsMax = 4;

  void add(std::unique_ptr<AgentRound> round) {
    const RoundKey key = round->key();
    std::erase_if(rounds_, [&](const auto& other) {
      return other.first.round == key.round && other.first < key;
    });
    rounds_.try_emplace(key, std::move(round));
    if (rounds_.size() > kRoundsMax) rounds_.erase(std::prev(rounds_.end()));
  }
  // Null if no such round waits.
  AgentRound* find(const RoundKey& key) {
    const auto found = rounds_.find(key);
    return found == rounds_.end() ? nullptr : found->second.get();
  }
  // Removes and returns the earliest round whose plan fulfils the condition. Null: none does.
  template <typename CanBegin>
  std::unique_ptr<AgentRound> take_first(const CanBegin& can_begin) {
    const auto first = std::ranges::find_if(
        rounds_, [&](const auto& each) { return can_begin(each.second->plan()); });
    return first == rounds_.end() ? nullptr : std::move(rounds_.extract(first).mapped());
  }

  void erase(const RoundKey& key) { rounds_.erase(key); }
  // Drops the rounds up to this one, which are committed.
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
