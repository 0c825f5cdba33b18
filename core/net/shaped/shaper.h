// Computes when messages arrive over a link with a delay, a rate and a loss. It combines a token
// bucket, a delay line and a random draw for each message. It reads no clock: the caller passes in
// the times. The same seed, times and sizes give the same results. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/random.h"
#include "core/base/status.h"

namespace tributary {

struct ShapeOptions {
  std::chrono::nanoseconds delay{0};  // of every message
  // Upper bound of a random addition to the delay. The order of messages is kept.
  std::chrono::nanoseconds jitter{0};
  std::uint64_t bytes_per_s = 0;          // 0: unlimited
  std::uint64_t burst_bytes = 64u << 10;  // bytes that an idle link passes at once
  double loss = 0;                        // probability that a message is lost, 0 to 1
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // shapers with the same seed use different streams
};

class Shaper {
 public:
  using Time = std::chrono::nanoseconds;

  // Returns invalid_argument for values out of range.
  static Result<Shaper> make(const ShapeOptions& options);

  // Changes the link from now on. Messages that are on the link arrive as computed before.
  void change(Time delay, std::uint64_t bytes_per_s, double loss);

  // The time at which the message arrives, never before an earlier message. Empty if it is lost; a
  // lost message still takes its time on the link.
  std::optional<Time> arrival(Time now, std::size_t bytes);
  // The same for a message whose bytes were passed in one after another and whose last byte was
  // passed in at `now`. It crossed the link during that time.
  std::optional<Time> arrival_of_last_byte(Time now, std::size_t bytes);
  Time delay() const { return options_.delay; }
  // The time that `bytes` bytes take at the link's rate, without the delay.
  Time time_for(std::uint64_t bytes) const;

  // The arrival of an event that takes no time on the link but must not overtake messages.
  Time arrival_of_news(Time now) const { return std::max(now, last_arrival_); }

  // The time at which the link is idle again, if `burst_bytes` is 0. Time::min() before the first
  // message.
  Time link_free_at() const { return link_free_at_; }

 private:
  explicit Shaper(const ShapeOptions& options);
  std::optional<Time> arrival(Time now, std::uint64_t bytes, std::uint64_t at_once);
  std::uint32_t draw(std::uint32_t purpose) const;

  ShapeOptions options_;
  Time link_free_at_{Time::min()};  // minus the time of a burst, if the bucket is full
  Time last_arrival_{Time::min()};
  std::uint64_t message_ = 0;
};

}  // namespace tributary
