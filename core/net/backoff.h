// Computes the pause before the next attempt to connect. The pause doubles from `min` to `max`, and
// half of it is random, so that a thousand agents do not reconnect at the same moment. The sequence
// is deterministic for a seed. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/base/random.h"

namespace tributary {

class Backoff {
 public:
  using Time = std::chrono::nanoseconds;

  Backoff(Time min, Time max, std::uint64_t seed)
      : min_(std::max(min, Time(1))),
        max_(std::max(max, min_)),
        whole_(min_),
        key_(stream_key({.job_seed = seed, .purpose = DrawPurpose::jitter})) {}

  Time next() {
    const double share = uniform_01(random_bits(key_, attempt_++));
    const Time half = whole_ / 2;
    const Time wait =
        half + Time(static_cast<Time::rep>(static_cast<double>(half.count()) * share));
    whole_ = whole_ > max_ / 2 ? max_ : whole_ * 2;
    return wait;
  }
  void reset() { whole_ = min_; }

 private:
  Time min_;
  Time max_;
  Time whole_;
  StreamKey key_;
  std::uint32_t attempt_ = 0;
};

}  // namespace tributary
