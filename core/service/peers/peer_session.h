// One epoch among peers: opens its mesh, sends what the machine asks for, and posts what peers send
// and which of them are lost, until another epoch begins.
//
// Threads: all of it belongs to the peer link's thread; `post` is called on it, and must not wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/mesh/mesh.h"
#include "core/net/mesh/peer_port.h"
#include "core/round/common/machine/events.h"
#include "core/service/peers/epoch_members.h"
#include "core/service/peers/peer_commands.h"
#include "core/service/peers/peer_telemetry.h"

namespace tributary {

struct PeerSessionOptions {
  // Null: nothing is encrypted and members are who they say they are.
  std::shared_ptr<const KeyPair> keys = nullptr;
  // Of what waits for one member to take it. With more, the session ends and every member is lost.
  std::size_t unsent_bytes_max = 0;
  std::chrono::milliseconds connect_max{0};
  std::chrono::milliseconds refused_max{0};
};

// PeerFrameReceived and PeerLost. What the event borrows lives as long as `owner`, and counts as
// unread for as long.
using PostPeerEvent = std::function<void(Event event, std::shared_ptr<const void> owner)>;

// All but `commands` outlive the session; whoever holds a message holds `commands` too.
struct PeerSessionParts {
  PeerPort& port;
  std::shared_ptr<PeerCommands> commands;
  PeerTelemetry& telemetry;
  const Clock& clock;
  const PostPeerEvent& post;
};

class PeerSession {
 public:
  // `number` is that of the epoch in `commands`.
  PeerSession(const PeerSessionParts& parts, const PeerSessionOptions& options,
              std::uint64_t number, OpenPeers epoch);
  ~PeerSession();
  PeerSession(const PeerSession&) = delete;
  PeerSession& operator=(const PeerSession&) = delete;

  // Until the epoch is over. After an error every other member is lost, and the call returns.
  void run();

 private:
  Status play();
  Status open();
  Status send(PeerCommands::Work& work);
  void take(LinkEvent& event);
  void receive(Received& message);
  void measure(const Received& message);
  void lose(std::uint32_t member, Status why);
  void count();

  const PeerSessionParts parts_;
  const PeerSessionOptions options_;
  const std::uint64_t number_;
  EpochMembers members_;
  std::unique_ptr<Transport> mesh_;
  LinkCounters counted_;  // what telemetry has
};

}  // namespace tributary
