// The measurements of the links from peers, which exchanges produce, and the set of peers with new
// measurements. It outlives epochs. It reads no clock: the caller passes in times.
//
// It keeps at most kPeersMax peers. A further peer replaces the one whose measurement is oldest.
//
// Not thread-safe; the owner locks.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/link_quality/link_table.h"

namespace tributary {

// The measured link from a peer: the rate of payloads, and the latency as half of TCP's minimum
// round-trip time.
struct PeerMeasured {
  std::string agent_id;
  MeasuredLink link;
};

class PeerMeasures {
 public:
  static constexpr std::size_t kPeersMax = 1024;

  // Adds a measurement. Ignores a peer without an id.
  void add(const std::string& agent_id, const LinkTransfer& transfer) {
    if (agent_id.empty()) return;
    links_.add(agent_id, transfer);
    fresh_.insert(agent_id);
    if (fresh_.size() > kPeersMax) fresh_.erase(fresh_.begin());
  }

  // Returns at most `count_max` peers with new measurements since they were last taken.
  std::vector<PeerMeasured> take(std::size_t count_max, double now_s) {
    std::vector<PeerMeasured> taken;
    while (!fresh_.empty() && taken.size() < count_max) {
      std::string agent_id = std::move(fresh_.extract(fresh_.begin()).value());
      const MeasuredLink link = links_.measured(agent_id, now_s);
      taken.push_back({.agent_id = std::move(agent_id), .link = link});
    }
    return taken;
  }

 private:
  LinkTable links_{kPeersMax};
  std::set<std::string> fresh_;
};

}  // namespace tributary
