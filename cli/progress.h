// How far a long command has come, shown on a terminal, and whether it shall go on.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.h"

namespace tributary {

// The line that stands for `done` of `total`: "encoding [#####---------------]  25 %".
std::string progress_line(std::string_view doing, std::uint64_t done, std::uint64_t total);

class Progress {
 public:
  // Nothing is shown unless the file descriptor is a terminal.
  Progress(int terminal, const Clock& clock);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Returns false when the program was asked to stop.
  bool report(std::string_view doing, std::uint64_t done, std::uint64_t total);

  // A line that stays, terminal or not.
  void say(std::string_view line);

  // Takes the line away.
  void clear();

 private:
  const int terminal_;
  const Clock& clock_;
  const bool shown_;
  bool drawn_ = false;
  std::chrono::nanoseconds drawn_at_{};
};

}  // namespace tributary
