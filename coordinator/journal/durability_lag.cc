#include "coordinator/journal/durability_lag.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary {
namespace {

std::int64_t seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace

LagReport::Report LagReport::look(std::chrono::nanoseconds now, std::chrono::nanoseconds lag) {
  if (lag > kLate) {
    in_time_since_.reset();
    if (reported_.count() == 0) longest_ = lag;
    longest_ = std::max(longest_, lag);
    if (reported_.count() != 0 && lag < 2 * reported_) return Report::none;
    reported_ = lag;
    return Report::behind;
  }
  if (reported_.count() == 0) return Report::none;
  if (!in_time_since_) in_time_since_ = now;
  if (now - *in_time_since_ < kLate) return Report::none;
  reported_ = std::chrono::nanoseconds(0);
  in_time_since_.reset();
  return Report::caught_up;
}

std::string behind_text(std::chrono::nanoseconds lag) {
  return fmt::format(
      "the disk is slower than rounds write: the rounds of the last {} s are not durable, where "
      "journal.durability says {} s. A power failure would undo them; a killed process loses "
      "nothing. Rounds go on. Use a faster disk, or longer rounds",
      seconds_of(lag), kDurableAfter.count());
}

std::string caught_up_text(std::chrono::nanoseconds longest) {
  return fmt::format("rounds are durable within {} s again; at most {} s of them were not",
                     LagReport::kLate.count(), seconds_of(longest));
}

}  // namespace tributary
