// What the coordinator's link has counted, as metrics and as readings of rounds.
#pragma once

#include <array>
#include <cstdint>

#include "coordinator/chronicle.h"
#include "core/link/transport.h"
#include "core/service/metrics.h"

namespace tributary {

class LinkFigures {
 public:
  // Both must outlive it.
  LinkFigures(Metrics& metrics, Chronicle& chronicle) : metrics_(metrics), chronicle_(chronicle) {}

  // What all connections have carried since the round before, retries and other jobs included.
  void round_published(const Reading& round, const LinkCounters& now);
  // The link tells of a flood of refusals only so many; it counts all of them.
  void count_refusals(const LinkCounters& now);

 private:
  Metrics& metrics_;
  Chronicle& chronicle_;
  LinkCounters at_last_round_;
  std::array<std::uint64_t, kRefusalReasons> refused_{};  // as counted so far
};

}  // namespace tributary
