#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/process/process.h"

namespace tributary {
namespace {

// Width of the bar in characters.
constexpr std::size_t kBarCells = 30;
// Faster updates cannot be read and slow down fast operations.
constexpr std::chrono::milliseconds kRedraw{100};

}  // namespace

std::string progress_line(std::string_view doing, std::uint64_t done, std::uint64_t total) {
  const double part =
      total == 0 ? 1 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const auto cells = static_cast<std::size_t>(part * kBarCells);
  return fmt::format("{} [{}{}] {:3.0f} %", doing, std::string(cells, '#'),
                     std::string(kBarCells - cells, '-'), part * 100);
}

Progress::Progress(int terminal, const Clock& clock)
    : terminal_(terminal), clock_(clock), shown_(::isatty(terminal) != 0) {}

bool Progress::report(std::string_view doing, std::uint64_t done, std::uint64_t total) {
  const bool due = !drawn_ || clock_.now() - drawn_at_ >= kRedraw;
  // After a stop signal nothing is drawn, because the terminal may be blocked.
  if (shown_ && due && stop_signal() == 0) {
    // Back to the start of the line, and erase the rest of a longer line before.
    write_all(terminal_, fmt::format("\r{}\x1b[K", progress_line(doing, done, total)));
    drawn_ = true;
    drawn_at_ = clock_.now();
  }
  return stop_signal() == 0;
}

void Progress::say(std::string_view line) {
  clear();
  write_all(terminal_, fmt::format("{}\n", line));
}

void Progress::clear() {
  if (drawn_) write_all(terminal_, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace tributary
