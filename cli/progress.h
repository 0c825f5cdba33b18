// Shows the progress of a long command on a terminal, and reports whether the user wants it to
// stop. One thread at a time.
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
  // A progress bar appears only if the file descriptor is a terminal.
  Progress(int terminal, const Clock& clock);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Redraws the bar, at most ten times per second. Returns false after a stop signal.
  bool report(std::string_view doing, std::uint64_t done, std::uint64_t total);

  // Prints a permanent line, even if there is no terminal.
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
