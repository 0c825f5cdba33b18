// How far durability is behind the committed rounds, where journal.durability promises a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/store/durability/durability.h"

namespace tributary {

// The times come from one clock. Thread-safe, except that each method has one thread.
class DurabilityLag {
 public:
  using Time = std::chrono::nanoseconds;

  explicit DurabilityLag(Time now) : durable_until_(now), stored_at_(now) {}

  // A round was stored, beside the journal or in it. Those beside it are durable after they were
  // moved to it and synced.
  void stored(Time now, bool beside) {
    stored_at_ = now;
    if (beside && beside_since_.load() == kNever) beside_since_ = now;
  }
  void moved() { beside_since_ = kNever; }

  // Before a sync of the journal; the result is for synced().
  Time before_sync(Time now) const { return std::min(now, beside_since_.load()); }
  void synced(Time before) { durable_until_ = before; }

  // Bound on the age of the oldest round that is not durable; 0: all are.
  Time lag(Time now) const {
    const Time until = durable_until_;
    return stored_at_.load() <= until || now <= until ? Time(0) : now - until;
  }

 private:
  static constexpr Time kNever = Time::max();

  std::atomic<Time> durable_until_;
  std::atomic<Time> stored_at_;
  std::atomic<Time> beside_since_ = kNever;
};

// Decides when the lag is reported. Not thread-safe.
class LagReport {
 public:
  // A lag up to this is normal: a sync takes a moment.
  static constexpr std::chrono::seconds kLate = 2 * kDurableAfter;

  enum class Report : std::uint8_t { none, behind, caught_up };
  // Behind: once it is late, and again whenever it has doubled. Caught up: when it has been in time
  // for kLate.
  Report look(std::chrono::nanoseconds now, std::chrono::nanoseconds lag);
  std::chrono::nanoseconds longest() const { return longest_; }  // since it was late

 private:
  std::chrono::nanoseconds reported_{0};  // 0: it is not late
  std::chrono::nanoseconds longest_{0};
  std::optional<std::chrono::nanoseconds> in_time_since_;
};

// For people.
std::string behind_text(std::chrono::nanoseconds lag);
std::string caught_up_text(std::chrono::nanoseconds longest);

}  // namespace tributary
