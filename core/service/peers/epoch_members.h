// The other members of one epoch, as an agent's peer link knows them: who is lost, and whose round
// trip is to be read again. Pure: times are handed in.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/round/common/machine/actions.h"

namespace tributary {

class EpochMembers {
 public:
  // The shortest round trip of some minutes changes slowly.
  static constexpr std::chrono::seconds kRoundTripEvery{10};

  explicit EpochMembers(OpenPeers epoch)
      : epoch_(std::move(epoch)),
        lost_(epoch_.members.size(), false),
        round_trip_at_(epoch_.members.size(), std::chrono::nanoseconds::min()) {}

  const OpenPeers& epoch() const { return epoch_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(epoch_.members.size()); }
  const std::string& agent_id(std::uint32_t member) const {
    return epoch_.members[member].agent_id;
  }

  // True for the first loss of another member: the machine is told of a loss once.
  bool lose(std::uint32_t member) {
    if (member == epoch_.member || lost_[member]) return false;
    lost_[member] = true;
    return true;
  }
  bool is_lost(std::uint32_t member) const { return lost_[member]; }

  // True if its round trip is to be read now; the next time is kRoundTripEvery later.
  bool round_trip_due(std::uint32_t member, std::chrono::nanoseconds now) {
    if (now < round_trip_at_[member]) return false;
    round_trip_at_[member] = now + kRoundTripEvery;
    return true;
  }

 private:
  const OpenPeers epoch_;
  std::vector<bool> lost_;
  std::vector<std::chrono::nanoseconds> round_trip_at_;
};

}  // namespace tributary
