// The repetition of a round that has failed: the number of the next attempt, the time at which it
// may begin, and what has failed so far. The counts are those of one round; only slow uplinks are
// also counted over changes of the job. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/round/common/machine/events.h"

namespace tributary {

class RoundRetry {
 public:
  // Number of the next attempt at the same round.
  std::uint32_t attempt() const { return attempt_; }
  // Attempts at this round by another collective than the star that failed, and those of them that
  // the linear check of sums in the network has refused.
  std::uint32_t fallbacks() const { return fallbacks_; }
  std::uint32_t sums_refused() const { return sums_refused_; }
  // The next attempt begins at this time at the earliest.
  TimeNs resume_at_ns() const { return resume_at_ns_; }

  // An attempt has failed. The pause before the next one doubles with each, up to 32 times.
  void failed(TimeNs now, std::uint32_t retry_after_ms) {
    resume_at_ns_ = now + (TimeNs{retry_after_ms} << std::min(attempt_, kDoublingsMax)) * kNsPerMs;
    ++attempt_;
  }
  // Replaces the pause.
  void resume_at(TimeNs at) { resume_at_ns_ = at; }
  void fell_back() { ++fallbacks_; }
  void refused_sums() { ++sums_refused_; }

  // Counts the attempts in a row that were too short for an uplink. Returns whether the next one
  // would be, too: the first may have included a download or a training that the next one does not
  // repeat.
  [[nodiscard]] bool count_too_short(bool uplink_too_slow) {
    too_short_ = uplink_too_slow ? too_short_ + 1 : 0;
    return too_short_ >= kTooShortMax;
  }
  void forget_too_short() { too_short_ = 0; }

  // A new epoch counts its attempts from 0.
  void epoch_opened() { attempt_ = 0; }
  // The round is committed, and the next one has not failed yet.
  void committed() { attempt_ = fallbacks_ = sums_refused_ = too_short_ = 0; }

 private:
  static constexpr std::uint32_t kDoublingsMax = 5;
  static constexpr std::uint32_t kTooShortMax = 2;

  std::uint32_t attempt_ = 0;
  std::uint32_t fallbacks_ = 0;
  std::uint32_t sums_refused_ = 0;
  std::uint32_t too_short_ = 0;
  TimeNs resume_at_ns_ = 0;
};

}  // namespace tributary
