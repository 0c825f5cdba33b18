// The telemetry of a peer link: counters, refused connections, and measurements of links.
// Thread-safe: the link's thread writes, and any thread reads.
//
// Memory is bounded: the counters, at most kRefusedMax refused connections, and PeerMeasures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/net/mesh/tcp/mesh.h"
#include "core/service/peers/peer_measures.h"

namespace tributary {

struct PeerLinkCounters {
  std::uint64_t bytes_in = 0;  // bytes in TCP's streams up to the last event
  std::uint64_t bytes_out = 0;
  std::uint64_t refused = 0;
};

class PeerTelemetry {
 public:
  static constexpr std::size_t kRefusedMax = 16;  // refused connections that are kept

  // Adds the difference since the last call.
  void count(const PeerLinkCounters& more) {
    const std::lock_guard lock(mutex_);
    counters_.bytes_in += more.bytes_in;
    counters_.bytes_out += more.bytes_out;
    counters_.refused += more.refused;
  }
  PeerLinkCounters counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

  void refused(Refused connection) {
    const std::lock_guard lock(mutex_);
    if (refused_.size() < kRefusedMax) refused_.push_back(std::move(connection));
  }
  // The first kRefusedMax refused connections since the last call.
  std::vector<Refused> take_refused() {
    const std::lock_guard lock(mutex_);
    return std::exchange(refused_, {});
  }

  void measured(const std::string& agent_id, const LinkTransfer& transfer) {
    const std::lock_guard lock(mutex_);
    measures_.add(agent_id, transfer);
  }
  std::vector<PeerMeasured> take_measured(std::size_t count_max, double now_s) {
    const std::lock_guard lock(mutex_);
    return measures_.take(count_max, now_s);
  }

 private:
  mutable std::mutex mutex_;
  PeerLinkCounters counters_;
  std::vector<Refused> refused_;
  PeerMeasures measures_;
};

}  // namespace tributary
