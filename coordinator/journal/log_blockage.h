// Notices that a reader keeps the journal's log from being copied for too long, so that the log
// grows. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tributary {

class LogBlockage {
 public:
  static constexpr std::chrono::seconds kReportAfter{30};

  // Takes what CoordinatorJournal::rest() returned after a transaction. True once for each
  // blockage, when it has lasted for kReportAfter.
  bool look(std::chrono::nanoseconds now, bool log_was_long) {
    if (!log_was_long) {
      *this = LogBlockage();
      return false;
    }
    if (!since_) since_ = now;
    if (reported_ || now - *since_ < kReportAfter) return false;
    reported_ = true;
    return true;
  }

 private:
  std::optional<std::chrono::nanoseconds> since_;  // the log is long since then
  bool reported_ = false;
};

// For people: what blocks the log, and what to do.
std::string blockage_text(std::string_view journal, std::uint64_t log_bytes);

}  // namespace tributary
