// What exchanges have shown of the links from peers, and of which peers something new is known.
// Outlives epochs. Pure: times are handed in.
//
// At most kPeersMax peers are known; another one takes the place of the one heard longest ago.
//
// Threads: one at a time; the owner locks.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/link_quality/link_table.h"

namespace tributary {

// The link from a peer, as the exchanges show it: its rate by payloads, its latency by half of the
// shortest round trip that TCP has seen.
struct PeerMeasured {
  std::string agent_id;
  MeasuredLink link;
};

class PeerMeasures {
 public:
  static constexpr std::size_t kPeersMax = 1024;

  // A peer without an id is not measured.
  void add(const std::string& agent_id, const LinkTransfer& transfer) {
    if (agent_id.empty()) return;
    links_.add(agent_id, transfer);
    fresh_.insert(agent_id);
    if (fresh_.size() > kPeersMax) fresh_.erase(fresh_.begin());
  }

  // Peers of which something new is known since they were taken; at most count_max.
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
