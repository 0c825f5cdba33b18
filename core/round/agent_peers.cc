// An agent's exchanges among peers.
#include "core/round/agent_impl.h"

namespace tributary {

void Agent::Impl::on(const PeerFrameReceived&) {}
void Agent::Impl::on(const PeerLost&) {}

}  // namespace tributary
