// The simulated network between agents and coordinator. Each agent has one connection over two
// links, one for each direction. It also delivers messages of unknown processes that know the
// coordinator's port.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/sim/link/hostile.h"
#include "core/sim/link/link.h"
#include "core/sim/machines/simulation_context.h"

namespace tributary {

// A process at one end of a connection.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual bool listening() const = 0;
  virtual void receive(const FrameReceived& event) = 0;
  virtual void connected(PeerId peer) = 0;
  virtual void disconnected(PeerId peer) = 0;
  // Bytes of an incomplete message have arrived from this peer.
  virtual void alive(PeerId peer) = 0;
};

// Not thread-safe; all times are virtual.
class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(SimulationContext& sim);

  // Call it once, before anything else. All receivers must outlive this object.
  void attach(Receiver& coordinator, std::vector<Receiver*> agents);

  // The agent connects to the coordinator, as soon as the coordinator is reachable.
  void dial(std::uint32_t agent);
  // All running agents connect, as after a restart of the coordinator.
  void dial_all();
  // The connection ends, and messages in flight are lost. Each side may learn of it or not.
  void hang_up(std::uint32_t agent);
  // The coordinator gives up the peer. The connection stays and gets a new peer number.
  void forget(PeerId peer);

  void send_up(std::uint32_t agent, Message message);
  void send_down(PeerId peer, Message message);

  // --- faults ---
  Link& up(std::uint32_t agent) { return links_[agent].links.up; }
  Link& down(std::uint32_t agent) { return links_[agent].links.down; }
  void mend_all();
  // Sends a wrong copy before each of the agent's next `messages` messages that contain sizes.
  void let_lie(std::uint32_t agent, std::uint32_t messages) { links_[agent].lies = messages; }
  // Repeats an old message in each direction of the agent's connection.
  void replay(std::uint32_t agent);
  // Sends a message to the coordinator on a separate connection that is authenticated as
  // `authenticated_as`.
  void intrude(Message message, std::string authenticated_as);
  // Sends a message to an agent, or to the coordinator over the agent's connection, as if the other
  // side had sent it.
  void disturb(std::uint32_t agent, bool to_agent, Message message);
  // A Hello that this agent has sent; empty if none was.
  const Message& hello(std::uint32_t agent) const { return links_[agent].hello; }

  // Largest number of messages in flight for one agent.
  std::uint64_t under_way_max() const { return under_way_max_; }
  // Payload bytes in flight to the coordinator.
  std::uint64_t payload_bytes_up() const { return payload_bytes_up_; }
  // The coordinator's number for the agent's connection; 0 if none exists.
  PeerId peer(std::uint32_t agent) const { return links_[agent].peer; }

 private:
  struct Ends {
    AgentLinks links;
    PeerId peer = 0;  // 0: no connection
    bool dialing = false;
    std::uint32_t lies = 0;
    std::uint64_t under_way = 0;
    Message old_up;
    Message old_down;
    Message hello;
  };
  // A message in flight.
  struct Transfer {
    std::uint32_t agent = 0;
    PeerId peer = 0;
    bool to_agent = false;
    TimeNs arrives_at_ns = 0;
    TimeNs held_up_ns = 0;  // link's held_up_ns() when `arrives_at_ns` was set
    Message message;
  };

  void connect(std::uint32_t agent);
  void carry(std::uint32_t agent, bool to_agent, Message message);
  void hand_over(std::uint32_t agent, bool to_agent, Message message);
  void put_under_way(std::uint32_t agent, bool to_agent, Message message, TimeNs first_byte_at_ns,
                     TimeNs arrives_at_ns);
  void arrive_in_time(const std::shared_ptr<Transfer>& transfer);
  void arrive(const Transfer& transfer);
  void show_progress(std::weak_ptr<const Transfer> transfer, TimeNs at_ns);
  Link& link(std::uint32_t agent, bool to_agent) {
    return to_agent ? links_[agent].links.down : links_[agent].links.up;
  }
  void remember(Ends& ends, bool to_agent, const Message& message);

  SimulationContext& sim_;
  Receiver* coordinator_ = nullptr;
  std::vector<Receiver*> agents_;
  std::vector<Ends> links_;
  std::map<PeerId, std::uint32_t> agent_of_;
  PeerId next_peer_ = 1;
  SeededDraws draws_;
  std::uint64_t under_way_max_ = 0;
  std::uint64_t payload_bytes_up_ = 0;  // in flight
  std::uint64_t payloads_ = 0;          // sent
};

}  // namespace tributary
