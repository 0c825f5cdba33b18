// The options of hubs and spokes.
//
// Plain values; the keys are copied. Durations are upper bounds and never the normal case.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/net/access/allow_list.h"
#include "core/net/keys/keys.h"
#include "core/net/transport.h"
#include "core/net/zmq/link_context.h"

namespace tributary {

// Time limits of a link.
struct LinkTimes {
  // The kernel ends a connection if the other side acknowledges nothing for this time while data is
  // in flight, however slow the link is. On an idle connection it probes after a minute. libzmq's
  // heartbeats are not used: version 4.3 aborts the process when one is due on a connection that
  // broke while its receive queue was full. The kernel's answer does not show whether the program
  // behind it still works. The layers above detect that (Transport::give_up).
  std::chrono::milliseconds unacknowledged_max{60'000};
  // From the first byte to the end of the handshake. A connection that sends nothing is closed.
  std::chrono::milliseconds handshake_max{10'000};
  std::chrono::milliseconds connect_max{10'000};
  // How long messages may still be sent after a link was closed.
  std::chrono::milliseconds linger_max{1'000};
  // Range of the pause between a spoke's attempts to connect: it grows from min to max (backoff.h).
  std::chrono::milliseconds redial_min{100};
  std::chrono::milliseconds redial_max{10'000};
};

struct HubOptions {
  std::string endpoint;  // "tcp://*:4640"; "tcp://127.0.0.1:*" picks a port
  KeyPair keys;
  // The agents that may connect. Without encryption it is compared with the keys that peers claim,
  // and it may be null, which allows every key.
  std::shared_ptr<const AllowList> allowed = nullptr;
  // False: nothing is encrypted and peers are not authenticated. It is for benchmarks on one
  // machine.
  bool encrypted = true;
  LinkLimits limits = {};
  LinkTimes times = {};
  // Null: the hub creates a context of its own. A context serves one hub.
  std::shared_ptr<LinkContext> context = nullptr;
};

struct SpokeOptions {
  std::string endpoint;  // "tcp://coordinator.lan:4640"
  KeyPair keys;
  PublicKey hub;  // the only key that the spoke accepts at the other end
  bool encrypted = true;
  LinkLimits limits = {};
  LinkTimes times = {};
  std::uint64_t seed = 0;                          // of the random pauses between attempts
  std::shared_ptr<LinkContext> context = nullptr;  // null: a context of its own
};

}  // namespace tributary
