// How a line changes over time: a text of steps, each of which holds for so long; after the last
// one it begins again.
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
  std::uint64_t bytes_per_s = 0;  // 0: as fast as it goes
  std::chrono::nanoseconds delay{0};
  double loss = 0;

  friend bool operator==(const TraceStep&, const TraceStep&) = default;
};

class LinkTrace {
 public:
  static constexpr std::size_t kStepsMax = 100'000;
  static constexpr std::uint64_t kFileBytesMax = 16u << 20;

  // Errors name the line, from 1 on.
  static Result<LinkTrace> parse(std::string_view text);
  static Result<LinkTrace> read(const std::string& path);
  static Result<LinkTrace> make(std::vector<TraceStep> steps);

  const std::vector<TraceStep>& steps() const { return steps_; }
  std::chrono::nanoseconds lasts() const { return ends_.back(); }

  // What the line is like so long after the beginning, by day and by night.
  const TraceStep& at(std::chrono::nanoseconds since_beginning) const;

 private:
  explicit LinkTrace(std::vector<TraceStep> steps);

  std::vector<TraceStep> steps_;
  std::vector<std::chrono::nanoseconds> ends_;  // of each step, from the beginning
};

}  // namespace tributary
