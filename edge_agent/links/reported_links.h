// Selects the measurements of links from peers that are due to be reported.
//
// A measurement is due at once if it differs from the last reported one or is much more certain,
// because plans depend on it. Otherwise it is due at intervals. The class reads no clock; the
// caller passes the time. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "core/service/peer_link.h"

namespace tributary {

class ReportedLinks {
 public:
  // Relative change that a planner treats as a different value.
  static constexpr double kChange = 0.2;
  // Increase of the confidence, which is between 0 and 1.
  static constexpr double kMoreConfidence = 0.1;
  static constexpr std::int64_t kEveryNs = 10'000'000'000;
  // At this bound all reports are forgotten, so that measurements are reported once more.
  static constexpr std::size_t kPeersMax = 1024;

  // Returns whether to report the measurement; if so, it counts as reported.
  bool due(std::int64_t now_ns, const PeerMeasured& peer);

 private:
  struct Reported {
    MeasuredLink link;
    std::int64_t at_ns = 0;
  };
  std::map<std::string, Reported> reported_;
};

}  // namespace tributary
