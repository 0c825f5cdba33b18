// The coordinator's side of the ZeroMQ links: one port for all agents. Thread rule: as for
// Transport.
//
// The hub owns its sockets and, without LinkContext in the options, its context. Closing it drops
// messages that are not sent within LinkTimes::linger_max.
#pragma once

#include <memory>
#include <string>

#include "core/net/transport.h"
#include "core/net/zmq/link_options.h"

namespace tributary {

// A transport whose peers connect to it. See core/net/transport.h for the contract.
class Hub : public Transport {
 public:
  // The bound endpoint with the port that was picked.
  virtual std::string endpoint() const = 0;
};

// Binds and starts to accept connections. Returns io_error if the port cannot be bound. An
// encrypted hub also returns invalid_argument without an allow-list, and already_exists if the
// context serves another hub.
Result<std::unique_ptr<Hub>> open_hub(const HubOptions& options);

}  // namespace tributary
