// Notes of the state machines, and what links refuse, into log and counters. What is at warning or
// above is logged at most once per name, reason, source and minute; the next line says how often it
// happened meanwhile. Counting misses nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/link/transport.h"
#include "core/round/actions.h"
#include "core/service/metrics.h"

namespace tributary {

class NoteLog {
 public:
  // All must outlive it.
  NoteLog(Log& log, const Clock& clock, Metrics& metrics)
      : log_(log), clock_(clock), metrics_(metrics) {}

  void note(const Note& note);
  void refused(const Refused& refused);

 private:
  // Whoever can choose its source must not make us remember ever more of them.
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
  std::map<Key, Recent> recent_;
  std::chrono::nanoseconds forgot_at_ = -kQuiet;
};

}  // namespace tributary
