// An agent's link to its peers, for the lifetime of the process: the port, and a session of the
// current epoch (core/service/peers) on a thread of its own. The machine's commands are the input;
// messages and losses of peers are posted as events.
//
// Thread rule: the machine's thread calls open(), close() and send(); any thread may call
// counters(), take_refused() and take_measured(). `post` is called on this class's thread and must
// not block. All calls of the port are made on that thread until this object is destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/mesh/peer_port.h"
#include "core/net/mesh/tcp/mesh.h"
#include "core/round/common/machine/actions.h"
#include "core/service/peers/peer_commands.h"
#include "core/service/peers/peer_session.h"
#include "core/service/peers/peer_telemetry.h"

namespace tributary {

struct PeerLinkOptions {
  // Address to listen at over TCP: "tcp://192.0.2.7:4650"; port 0 picks one.
  std::string endpoint;
  // The address that peers connect to, if it differs: behind a gateway or in a container.
  std::string advertise = {};
  // Null: nothing is encrypted and members are not authenticated.
  std::shared_ptr<const KeyPair> keys = nullptr;
  // Bound on the bytes of messages that were posted and not released yet. At this bound no more
  // messages are read, so it may be exceeded by one message.
  std::size_t unread_bytes_max = 64u << 20;
  // Bound on the bytes that wait for one member. No round needs as many, so beyond it the session
  // ends and every member is lost.
  std::size_t unsent_bytes_max = std::size_t{4} << 30;
  std::chrono::milliseconds connect_max{10'000};
  // Limit after a refused connection. Members open their ports before they report them, so a
  // refused connection usually means that the member has ended.
  std::chrono::milliseconds refused_max{1'000};
};

// Returns invalid_argument for unusable values of the settings peers.endpoint and peers.advertise.
Status check_peer_addresses(const std::string& endpoint, const std::string& advertise);

class PeerLink {
 public:
  using Post = PostPeerEvent;

  // Opens a TCP port of its own. Returns an error if it cannot be opened. `clock` must outlive the
  // link.
  static Result<std::unique_ptr<PeerLink>> make(PeerLinkOptions options, const Clock& clock,
                                                Post post);
  // Uses an existing port of any kind; the addresses in `options` are ignored.
  static std::unique_ptr<PeerLink> make_over(std::unique_ptr<PeerPort> port,
                                             PeerLinkOptions options, const Clock& clock,
                                             Post post);
  // Does not wait for messages to be sent; unsent messages are dropped.
  ~PeerLink();
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;

  // The address that peers connect to.
  const std::string& endpoint() const { return port_->endpoint(); }

  // Starts a session of the epoch; the session before it ends.
  void open(OpenPeers epoch);
  void close();
  // Sends to a member of the current epoch; without an epoch the message is dropped.
  void send(SendToPeer message);

  PeerLinkCounters counters() const { return telemetry_.counters(); }
  // The first few refused connections since the last call.
  std::vector<Refused> take_refused() { return telemetry_.take_refused(); }
  // At most `count_max` peers with new measurements since they were last taken.
  std::vector<PeerMeasured> take_measured(std::size_t count_max);

 private:
  PeerLink(std::unique_ptr<PeerPort> port, PeerLinkOptions options, const Clock& clock, Post post);
  void run();

  const PeerLinkOptions options_;
  const Clock& clock_;
  const Post post_;
  const std::unique_ptr<PeerPort> port_;
  const std::shared_ptr<PeerCommands> commands_;  // shared with the messages that the machine holds
  PeerTelemetry telemetry_;
  std::thread thread_;
};

}  // namespace tributary
