// What hubs and spokes can be told.
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

struct LinkTimes {
  // The kernel ends a connection whose other side has acknowledged nothing for so long while
  // something was under way to it, however slow the line is; where nothing is, it asks after a
  // minute. Not libzmq's heartbeats: 4.3 ends the program when one is due on a connection that has
  // broken while its receive queue was full. Whether whoever is behind the kernel still answers is
  // for those to know who talk to it (Transport::give_up).
  std::chrono::milliseconds unacknowledged_max{60'000};
  // From the first byte to the end of the handshake; a connection that only sits there is cut.
  std::chrono::milliseconds handshake_max{10'000};
  std::chrono::milliseconds connect_max{10'000};
  // For what is still to be sent when a link is closed.
  std::chrono::milliseconds linger_max{1'000};
  // A spoke's pauses between attempts grow from the first to the second, half of each at random.
  std::chrono::milliseconds redial_min{100};
  std::chrono::milliseconds redial_max{10'000};
};

struct HubOptions {
  std::string endpoint;  // "tcp://*:4640"; "tcp://127.0.0.1:*" picks a port
  KeyPair keys;
  // Who may connect. Without encryption it is compared with what peers claim, and may be left out.
  std::shared_ptr<const AllowList> allowed = nullptr;
  // Off: nothing is encrypted and peers are who they say they are. For benchmarks on one machine.
  bool encrypted = true;
  LinkLimits limits = {};
  LinkTimes times = {};
  std::shared_ptr<LinkContext> context = nullptr;  // null: its own; may serve one hub
};

struct SpokeOptions {
  std::string endpoint;  // "tcp://coordinator.lan:4640"
  KeyPair keys;
  PublicKey hub;  // pinned: nobody else is talked to
  bool encrypted = true;
  LinkLimits limits = {};
  LinkTimes times = {};
  std::uint64_t seed = 0;                          // of the pauses between attempts
  std::shared_ptr<LinkContext> context = nullptr;  // null: its own
};

}  // namespace tributary
