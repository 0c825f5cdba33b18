#include "edge_agent/reported_links.h"

#include <algorithm>

namespace tributary {
namespace {

// A quantity that became known or clearly more certain is due, and so is one that changed.
bool another(const LinkQuantity& now, const LinkQuantity& told) {
  if (now.known() != told.known()) return now.known();
  if (now.confidence > told.confidence + ToldLinks::kMoreConfidence) return true;
  const double more = std::max(now.value, told.value);
  return now.known() && more > std::min(now.value, told.value) * (1 + ToldLinks::kChange);
}

}  // namespace

bool ToldLinks::due(std::int64_t now_ns, const PeerMeasured& peer) {
  const auto known = told_.find(peer.agent_id);
  if (known != told_.end()) {
    const Told& told = known->second;
    const bool changed = another(peer.link.alpha_s, told.link.alpha_s) ||
                         another(peer.link.beta_s_per_byte, told.link.beta_s_per_byte);
    if (!changed && now_ns - told.at_ns < kEveryNs) return false;
  } else if (told_.size() >= kPeersMax) {
    told_.clear();
  }
  told_[peer.agent_id] = {.link = peer.link, .at_ns = now_ns};
  return true;
}

}  // namespace tributary
