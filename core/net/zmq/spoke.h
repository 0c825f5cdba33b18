// An agent's side: one peer, dialled until it answers and again whenever it is gone. Every attempt
// has a socket of its own, so that nothing that was meant for one connection is sent on the next.
#pragma once

#include <memory>

#include "core/net/transport.h"
#include "core/net/zmq/link_options.h"

namespace tributary {

// Dials only while receive() is called, which is what notices a lost connection too.
Result<std::unique_ptr<Transport>> open_spoke(const SpokeOptions& options);

}  // namespace tributary
