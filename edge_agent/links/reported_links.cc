#include "edge_agent/links/reported_links.h"

#include <algorithm>

namespace tributary {
namespace {

// A quantity that became known or clearly more certain is due, and so is one that changed.
bool another(const LinkQuantity& now, const LinkQuantity& reported) {
  if (now.known() != reported.known()) return now.known();
  if (now.confidence > reported.confidence + ReportedLinks::kMoreConfidence) return true;
  const double more = std::max(now.value, reported.value);
  return now.known() && more > std::min(now.value, reported.value) * (1 + ReportedLinks::kChange);
}

}  // namespace

bool ReportedLinks::due(std::int64_t now_ns, const PeerMeasured& peer) {
  const auto known = reported_.find(peer.agent_id);
  if (known != reported_.end()) {
    const Reported& reported = known->second;
    const bool changed = another(peer.link.alpha_s, reported.link.alpha_s) ||
                         another(peer.link.beta_s_per_byte, reported.link.beta_s_per_byte);
    if (!changed && now_ns - reported.at_ns < kEveryNs) return false;
  } else if (reported_.size() >= kPeersMax) {
    reported_.clear();
  }
  reported_[peer.agent_id] = {.link = peer.link, .at_ns = now_ns};
  return true;
}

}  // namespace tributary
