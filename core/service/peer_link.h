// An agent's way to its peers, as long as the process lives: the port, and the mesh of the epoch
// that was opened last, which one thread looks after. What the machine asks for comes in, and what
// peers send and how they are lost goes out as events.
//
// Threads: open(), close() and send() belong to the machine's; counters(), take_refused() and
// take_measured() are any thread's. `post` is called on a thread of this class, and must not wait.
// The port's calls are all made on that thread, until this is destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/link_quality/link_table.h"
#include "core/net/mesh/peer_port.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"

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

struct PeerLinkCounters {
  std::uint64_t bytes_in = 0;  // of TCP's streams, up to the last event
  std::uint64_t bytes_out = 0;
  std::uint64_t refused = 0;
};

// What the way from a peer is like, as the exchanges show it: its rate by payloads, its latency by
// half of the quickest round trip that TCP has seen.
struct PeerMeasured {
  std::string agent_id;
  MeasuredLink link;
};

// Of the settings peers.endpoint and peers.advertise.
Status check_peer_addresses(const std::string& endpoint, const std::string& advertise);

class PeerLink {
 public:
  // PeerFrameReceived and PeerLost. What the event borrows lives as long as `owner`, and counts as
  // unread for as long.
  using Post = std::function<void(Event event, std::shared_ptr<const void> owner)>;

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

  PeerLinkCounters counters() const;
  // Strangers that were sent away since the last call, the first few of them.
  std::vector<Refused> take_refused();
  // Peers of which something new is known since they were taken, so many at most.
  std::vector<PeerMeasured> take_measured(std::size_t count_max);

 private:
  class Desk;
  class Unread;
  class Epoch;

  PeerLink(std::unique_ptr<PeerPort> port, PeerLinkOptions options, const Clock& clock, Post post);
  void run();

  const PeerLinkOptions options_;
  const Clock& clock_;
  const Post post_;
  const std::unique_ptr<PeerPort> port_;
  const std::shared_ptr<Desk> desk_;
  std::thread thread_;
};

}  // namespace tributary
