// One epoch among peers. It opens the epoch's mesh, sends the machine's messages and posts what
// peers send and which of them are lost, until the epoch is over.
//
// Thread rule: everything belongs to the peer link's thread. `post` is called on it and must not
// block.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/mesh/peer_port.h"
#include "core/net/mesh/tcp/mesh.h"
#include "core/round/common/machine/events.h"
#include "core/service/peers/epoch_members.h"
#include "core/service/peers/peer_commands.h"
#include "core/service/peers/peer_telemetry.h"

namespace tributary {

struct PeerSessionOptions {
  // Null: nothing is encrypted and members are not authenticated.
  std::shared_ptr<const KeyPair> keys = nullptr;
  // Bound on the bytes that wait for one member. Beyond it the session ends and every member is
  // lost.
  std::size_t unsent_bytes_max = 0;
  std::chrono::milliseconds connect_max{0};
  std::chrono::milliseconds refused_max{0};
};

// Receives PeerFrameReceived and PeerLost. Everything that the event refers to lives as long as
// `owner`; its bytes count as unread for that time.
using PostPeerEvent = std::function<void(Event event, std::shared_ptr<const void> owner)>;

// Everything except `commands` must outlive the session. Each posted message shares ownership of
// `commands`.
struct PeerSessionParts {
  PeerPort& port;
  std::shared_ptr<PeerCommands> commands;
  PeerTelemetry& telemetry;
  const Clock& clock;
  const PostPeerEvent& post;
};

class PeerSession {
 public:
  // `number` is the number of the epoch in `commands`.
  PeerSession(const PeerSessionParts& parts, const PeerSessionOptions& options,
              std::uint64_t number, OpenPeers epoch);
  ~PeerSession();
  PeerSession(const PeerSession&) = delete;
  PeerSession& operator=(const PeerSession&) = delete;

  // Returns when the epoch is over. On an error it first reports every other member as lost.
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
  LinkCounters counted_;  // totals that were passed to telemetry
};

}  // namespace tributary
