// The rounds in which the star replaces another collective after it has failed: one round after the
// first failure, then 2, 4, up to 64 as long as it fails. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary {

// While some agents are late, one in this many rounds uses the star, so that their updates count
// too: other collectives leave them out.
inline constexpr std::uint64_t kLateRounds = 4;

// The participants of an attempt.
struct CollectiveParticipants {
  std::uint32_t prompt = 0;  // number of those that are not late
  bool some_late = false;
};

class FailurePause {
 public:
  void failed(std::uint64_t round) {
    rounds_ = std::clamp(2 * rounds_, 1u, kRoundsMax);
    failed_round_ = round;
    from_round_ = round + rounds_;
  }
  void succeeded() { rounds_ = 0; }

  bool over(std::uint64_t round) const { return round >= from_round_; }
  // The first round after the pause.
  std::uint64_t from_round() const { return from_round_; }
  // True for the round of the last failure.
  bool began_in(std::uint64_t round) const { return round == failed_round_; }

 private:
  static constexpr std::uint32_t kRoundsMax = 64;

  std::uint64_t failed_round_ = 0;
  std::uint64_t from_round_ = 0;
  std::uint32_t rounds_ = 0;
};

}  // namespace tributary
