// The other members of one epoch, as an agent's peer link knows them: which of them are lost, and
// when to read their round-trip time again. It reads no clock: the caller passes in times. Not
// thread-safe.
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
  // Interval between readings. The minimum round-trip time of some minutes changes slowly.
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

  // Returns true for the first loss of another member, because the machine must receive each loss
  // once.
  bool lose(std::uint32_t member) {
    if (member == epoch_.member || lost_[member]) return false;
    lost_[member] = true;
    return true;
  }
  bool is_lost(std::uint32_t member) const { return lost_[member]; }

  // Returns true if the round-trip time must be read now, and schedules the next reading.
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
