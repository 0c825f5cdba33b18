// Which of what an agent has measured of its peers is to be told now: what is another than was
// told, or known a good deal better, soon, since rounds are planned by it; the rest now and then.
// Pure: times are handed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "core/service/peer_link.h"

namespace tributary {

class ToldLinks {
 public:
  static constexpr double kChange = 0.2;  // of a figure, as a planner takes it for another one
  static constexpr double kMoreConfidence = 0.1;
  static constexpr std::int64_t kEveryNs = 10'000'000'000;
  static constexpr std::size_t kPeersMax = 1024;

  // From then on it was told.
  bool due(std::int64_t now_ns, const PeerMeasured& peer);

 private:
  struct Told {
    MeasuredLink link;
    std::int64_t at_ns = 0;
  };
  std::map<std::string, Told> told_;
};

}  // namespace tributary
