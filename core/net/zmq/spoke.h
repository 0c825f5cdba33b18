// An agent's side of the ZeroMQ links: one hub, to which it connects again whenever the connection
// has ended. Every attempt has a socket of its own, so that no message for one connection is sent
// on the next. Thread rule: as for Transport.
#pragma once

#include <memory>
#include <vector>

#include "core/net/transport.h"
#include "core/net/zmq/link_options.h"

namespace tributary {

class Spoke : public Transport {
 public:
  // Descriptors of which one is readable when receive() may have an event. With them, one thread
  // can wait for many spokes. They stay the same until receive() connects or ends a connection.
  // Requires that every receive() before the wait has returned nothing.
  virtual std::vector<int> readable_files() const = 0;
};

// Starts the first attempt. The spoke connects, and notices a lost connection, only while receive()
// is called. Returns an error if libzmq refuses the options; an unreachable hub is not an error but
// the event Unreachable.
Result<std::unique_ptr<Spoke>> open_spoke(const SpokeOptions& options);

}  // namespace tributary
