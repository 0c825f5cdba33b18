// Time as something handed in, so that the simulator and the tests decide what time it is.
#pragma once

#include <atomic>
#include <chrono>

namespace tributary {

class Clock {
 public:
  virtual ~Clock() = default;

  // Since some moment in the past; never goes backwards. For durations and deadlines.
  virtual std::chrono::nanoseconds now() const = 0;

  // The date, which may jump when somebody sets it. For people to read.
  virtual std::chrono::system_clock::time_point wall_time() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;
  std::chrono::system_clock::time_point wall_time() const override;
};

// Stands still until it is told to move. Starts at 0 ns on 2000-01-01 00:00 UTC. Any thread may ask
// or move it.
class ManualClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;
  std::chrono::system_clock::time_point wall_time() const override;

  // Both times move on; `by` must not be negative.
  void advance(std::chrono::nanoseconds by);
  // The date alone jumps, as when somebody sets it.
  void set_wall_time(std::chrono::system_clock::time_point date);

 private:
  std::atomic<std::chrono::nanoseconds::rep> now_ns_{0};
  std::atomic<std::chrono::nanoseconds::rep> epoch_ns_{946'684'800'000'000'000};  // date at now 0
};

}  // namespace tributary
