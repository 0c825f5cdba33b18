// A link's rate, delay and loss over time, as a text of steps. Each step holds for its number of
// seconds. After the last step the trace starts again.
//
//   seconds, mbit_per_s, delay_ms, loss_percent
//   30, 20, 10, 0
//   15, 1.5, 80, 0.5     # somebody walks in between
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/net/shaped/shaper.h"

namespace tributary {

struct TraceStep {
  std::chrono::nanoseconds lasts{0};
  std::uint64_t bytes_per_s = 0;  // 0: unlimited
  std::chrono::nanoseconds delay{0};
  double loss = 0;

  friend bool operator==(const TraceStep&, const TraceStep&) = default;
};

// An immutable trace; threads may share it.
class LinkTrace {
 public:
  static constexpr std::size_t kStepsMax = 100'000;
  static constexpr std::uint64_t kFileBytesMax = 16u << 20;

  // All three return invalid_argument for a malformed trace. parse() and read() name the line,
  // counted from 1.
  static Result<LinkTrace> parse(std::string_view text);
  static Result<LinkTrace> read(const std::string& path);
  static Result<LinkTrace> make(std::vector<TraceStep> steps);

  const std::vector<TraceStep>& steps() const { return steps_; }
  // The duration of all steps together.
  std::chrono::nanoseconds lasts() const { return ends_.back(); }

  // The step in force after `since_beginning`, modulo the duration of the trace.
  const TraceStep& at(std::chrono::nanoseconds since_beginning) const;

 private:
  explicit LinkTrace(std::vector<TraceStep> steps);

  std::vector<TraceStep> steps_;
  std::vector<std::chrono::nanoseconds> ends_;  // end of each step, measured from the beginning
};

}  // namespace tributary
