// An agent's link to its peers, as long as the process lives: the port, and a session of the epoch
// that was opened last (core/service/peers), on a thread of its own. Commands of the machine come
// in; messages and losses of peers go out as events.
//
// Threads: open(), close() and send() belong to the machine's; counters(), take_refused() and
// take_measured() are any thread's. `post` is called on a thread of this class, and must not wait.
// The port's calls are all made on that thread, until this is destroyed.
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
#include "core/net/mesh/mesh.h"
#include "core/net/mesh/peer_port.h"
#include "core/round/common/machine/actions.h"
#include "core/service/peers/peer_commands.h"
#include "core/service/peers/peer_session.h"
#include "core/service/peers/peer_telemetry.h"

namespace tributary {

struct PeerLinkOptions {
  // Over TCP, to listen at: "tcp://192.0.2.7:4650"; port 0 picks one.
  std::string endpoint;
  // What others are told to connect to, where that is another: behind a gateway or in a container.
  std::string advertise = {};
  // Null: nothing is encrypted and members are who they say they are.
  std::shared_ptr<const KeyPair> keys = nullptr;
  // Messages that were handed out and not let go of yet: nothing more is read while there are so
  // many bytes of them, and one message.
  std::size_t unread_bytes_max = 64u << 20;
  // Of what waits for one member to take it: with more than this, which no round has, the session
  // is given up and every member is lost.
  std::size_t unsent_bytes_max = std::size_t{4} << 30;
  std::chrono::milliseconds connect_max{10'000};
  // Ports are open before anybody is told of them: where nobody listens, nobody is.
  std::chrono::milliseconds refused_max{1'000};
};

// Of the settings peers.endpoint and peers.advertise.
Status check_peer_addresses(const std::string& endpoint, const std::string& advertise);

class PeerLink {
 public:
  using Post = PostPeerEvent;

  // By a port of its own, over TCP. `clock` outlives it.
  static Result<std::unique_ptr<PeerLink>> make(PeerLinkOptions options, const Clock& clock,
                                                Post post);
  // By this port, whatever it goes by: the addresses in `options` say nothing then.
  static std::unique_ptr<PeerLink> make_over(std::unique_ptr<PeerPort> port,
                                             PeerLinkOptions options, const Clock& clock,
                                             Post post);
  // Waits for nobody: what is not sent by now is not sent.
  ~PeerLink();
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;

  // What others are told to connect to.
  const std::string& endpoint() const { return port_->endpoint(); }

  void open(OpenPeers epoch);
  void close();
  // To a member of the epoch that was opened last; without one it goes nowhere.
  void send(SendToPeer message);

  PeerLinkCounters counters() const { return telemetry_.counters(); }
  // The first few strangers that were refused since the last call.
  std::vector<Refused> take_refused() { return telemetry_.take_refused(); }
  // Peers of which something new is known since they were taken; at most count_max.
  std::vector<PeerMeasured> take_measured(std::size_t count_max);

 private:
  PeerLink(std::unique_ptr<PeerPort> port, PeerLinkOptions options, const Clock& clock, Post post);
  void run();

  const PeerLinkOptions options_;
  const Clock& clock_;
  const Post post_;
  const std::unique_ptr<PeerPort> port_;
  const std::shared_ptr<PeerCommands> commands_;  // whoever holds a message holds it too
  PeerTelemetry telemetry_;
  std::thread thread_;
};

}  // namespace tributary
