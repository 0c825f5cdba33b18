// Time as an interface, so that the simulator and the tests control it.
//
// The clocks of this file may be used by any thread.
#pragma once

#include <atomic>
#include <chrono>

namespace tributary {

// A source of time for code that must not read the system's clock directly.
class Clock {
 public:
  virtual ~Clock() = default;

  // Time since an arbitrary point in the past. It never decreases. Use it for durations and
  // deadlines.
  virtual std::chrono::nanoseconds now() const = 0;

  // The date. It may jump when the system's date is set. Use it only for display and records.
  virtual std::chrono::system_clock::time_point wall_time() const = 0;
};

// The system's clocks. Stateless.
class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;
  std::chrono::system_clock::time_point wall_time() const override;
};

// A clock that only moves when advance() is called, for tests and the simulator. It starts at 0 ns
// on 2000-01-01 00:00 UTC. Any thread may read or advance it.
class ManualClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;
  std::chrono::system_clock::time_point wall_time() const override;

  // Advances both times. `by` must not be negative.
  void advance(std::chrono::nanoseconds by);
  // Changes only the date, as if the system's date had been set.
  void set_wall_time(std::chrono::system_clock::time_point date);

 private:
  std::atomic<std::chrono::nanoseconds::rep> now_ns_{0};
  std::atomic<std::chrono::nanoseconds::rep> epoch_ns_{
      946'684'800'000'000'000};  // date at now() = 0
};

}  // namespace tributary
