// When a message may leave, on a line with a delay, a rate and a loss: a token bucket, a delay line
// and a die, driven by the times it is handed. The same seed, times and sizes give the same fate.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/random.h"
#include "core/base/status.h"

namespace tributary {

struct ShapeOptions {
  std::chrono::nanoseconds delay{0};      // every message
  std::chrono::nanoseconds jitter{0};     // up to so much more; order is kept
  std::uint64_t bytes_per_s = 0;          // 0: as fast as it goes
  std::uint64_t burst_bytes = 64u << 10;  // that an idle line lets through at once
  double loss = 0;                        // share of messages, 0 to 1
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // lines of one seed draw from streams of their own
};

class Shaper {
 public:
  using Time = std::chrono::nanoseconds;

  static Result<Shaper> make(const ShapeOptions& options);

  // The line is another one from now on; what is on it arrives as it would have.
  void change(Time delay, std::uint64_t bytes_per_s, double loss);

  // When the message arrives at the other end; never before an earlier one. Nothing: it is lost,
  // but it took its time on the line.
  std::optional<Time> arrival(Time now, std::size_t bytes);
  // The same of a message of which this line was handed the last byte at `now`, and the others one
  // after the other before: it was under way here meanwhile.
  std::optional<Time> arrival_of_last_byte(Time now, std::size_t bytes);
  Time delay() const { return options_.delay; }
  // That the line takes for so many bytes, without its delay.
  Time time_for(std::uint64_t bytes) const;

  // For what takes no time on the line, but must not overtake what does.
  Time arrival_of_news(Time now) const { return std::max(now, last_arrival_); }

  // When all that was sent has left, with `burst_bytes` of 0; long ago before the first message.
  Time line_free_at() const { return line_free_at_; }

 private:
  explicit Shaper(const ShapeOptions& options);
  std::optional<Time> arrival(Time now, std::uint64_t bytes, std::uint64_t at_once);
  std::uint32_t draw(std::uint32_t purpose) const;

  ShapeOptions options_;
  Time line_free_at_{Time::min()};  // with an empty bucket behind it
  Time last_arrival_{Time::min()};
  std::uint64_t message_ = 0;
};

}  // namespace tributary
