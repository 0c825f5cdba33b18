// Notes of the state machines, and what links refuse, into log and counters. What is at warning or
// above is logged at most once per name, reason, source and minute; the next line says how often it
// happened meanwhile. Counting misses nothing.
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
  // Log, clock and metrics must outlive it. What is logged from info on is handed to `keep` too,
  // whatever the log's own level.
  NoteLog(Log& log, const Clock& clock, Metrics& metrics,
          std::function<void(const Note&)> keep = nullptr)
      : log_(log), clock_(clock), metrics_(metrics), keep_(std::move(keep)) {}

  void note(const Note& note);
  void refused(const Refused& refused);

  // Sources that are remembered at the moment, in order to stay silent about them.
  std::size_t remembered() const { return recent_.size(); }

 private:
  // Whoever can choose its source must not make us remember ever more of them; once so many are
  // remembered, all new ones are one source together (for each name and reason, which are few).
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
