// Writes the notes of the state machines, and what links refuse, to the log and the counters. Notes
// at warning or above are logged at most once per minute for each name, reason and source. The next
// log entry states how many were suppressed. All notes are counted. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/net/transport.h"
#include "core/round/common/machine/actions.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

class NoteLog {
 public:
  // `log`, `clock` and `metrics` must outlive this object. `keep` receives the notes from level
  // info on, whatever the log's own level is.
  NoteLog(Log& log, const Clock& clock, Metrics& metrics,
          std::function<void(const Note&)> keep = nullptr)
      : log_(log), clock_(clock), metrics_(metrics), keep_(std::move(keep)) {}

  void note(const Note& note);
  void refused(const Refused& refused);

  // Number of sources that are remembered now in order to suppress repetitions.
  std::size_t remembered() const { return recent_.size(); }

 private:
  // Bound on remembered sources, so that a peer that chooses its own source names cannot use up
  // memory. At the bound, all new sources count as one source for each name and reason.
  static constexpr std::size_t kSourcesMax = 4096;
  static constexpr std::chrono::minutes kQuiet{1};

  struct Recent {
    std::chrono::nanoseconds logged_at{0};
    std::uint64_t unlogged = 0;
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // name, reason, source

  void write(const Note& note, std::uint64_t unlogged);
  void forget_old(std::chrono::nanoseconds now);

  Log& log_;
  const Clock& clock_;
  Metrics& metrics_;
  const std::function<void(const Note&)> keep_;
  std::map<Key, Recent> recent_;
  std::chrono::nanoseconds forgot_at_ = -kQuiet;
};

}  // namespace tributary
