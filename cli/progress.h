// Shows the progress of a long command on a terminal, and reports whether the user wants it to
// stop (stop_signal() in cli/process/process.h). One thread at a time.
//
// report() is cheap between two redraws, so loops may call it in every step. It never fails; a
// terminal that is gone shows nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.h"

namespace tributary {

// Returns the bar for `done` of `total`: "encoding [#####---------------]  25 %".
std::string progress_line(std::string_view doing, std::uint64_t done, std::uint64_t total);

class Progress {
 public:
  // All output goes to the file descriptor. A progress bar appears only if it is a terminal.
  Progress(int terminal, const Clock& clock);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Redraws the bar, at most ten times per second. Returns false after a stop signal: the caller
  // then ends its loop. More than `total` counts as all of it, and so does a total of 0.
  bool report(std::string_view doing, std::uint64_t done, std::uint64_t total);

  // Writes a permanent line, also if the file descriptor is a file or a pipe.
  void say(std::string_view line);

  // Erases the bar.
  void clear();

 private:
  const int terminal_;
  const Clock& clock_;
  const bool shown_;
  bool drawn_ = false;
  std::chrono::nanoseconds drawn_at_{};
};

}  // namespace tributary
