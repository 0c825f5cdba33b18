// The virtual network: a connection of every agent to the coordinator over a link each way, and
// whoever else knows the coordinator's port.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/sim/link/hostile.h"
#include "core/sim/link/link.h"
#include "core/sim/machines/room.h"

namespace tributary {

// A process at one end of a connection.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual bool listening() const = 0;
  virtual void receive(const FrameReceived& event) = 0;
  virtual void connected(PeerId peer) = 0;
  virtual void disconnected(PeerId peer) = 0;
  // Bytes of a message that is not whole yet have arrived from this peer.
  virtual void alive(PeerId peer) = 0;
};

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(Room& room);

  // Once, before anything else. Both must outlive this.
  void attach(Receiver& coordinator, std::vector<Receiver*> agents);

  // The agent's process dials the coordinator, as soon as that can be reached.
  void dial(std::uint32_t agent);
  // Everybody who runs does, as after a restart of the coordinator.
  void dial_all();
  // The connection is gone, with whatever is under way. Either side may be told or not.
  void hang_up(std::uint32_t agent);
  // The coordinator gives the peer's number up; its connection stays, and gets another.
  void forget(PeerId peer);

  void send_up(std::uint32_t agent, Message message);
  void send_down(PeerId peer, Message message);

  // --- faults ---
  Link& up(std::uint32_t agent) { return links_[agent].links.up; }
  Link& down(std::uint32_t agent) { return links_[agent].links.down; }
  void mend_all();
  // The next so many of its messages that claim sizes come with a lie in front.
  void let_lie(std::uint32_t agent, std::uint32_t messages) { links_[agent].lies = messages; }
  // Something that went over its link a while ago goes over it again, each way.
  void replay(std::uint32_t agent);
  // To the coordinator, from a connection of its own that `authenticated_as` has a key for.
  void intrude(Message message, std::string authenticated_as);
  // To an agent, or over its connection to the coordinator, as if from the other side.
  void disturb(std::uint32_t agent, bool to_agent, Message message);
  // A Hello that this agent has sent; nothing where none is remembered.
  const Message& hello(std::uint32_t agent) const { return links_[agent].hello; }

  std::uint64_t under_way_max() const { return under_way_max_; }
  // Bytes of payloads on their way to the coordinator.
  std::uint64_t payload_bytes_up() const { return payload_bytes_up_; }
  // The number of the agent's connection at the coordinator; 0: there is none.
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
  // A message under way.
  struct Transfer {
    std::uint32_t agent = 0;
    PeerId peer = 0;
    bool to_agent = false;
    TimeNs arrives_at_ns = 0;
    TimeNs held_up_ns = 0;  // what its link counted when `arrives_at_ns` was set
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

  Room& room_;
  Receiver* coordinator_ = nullptr;
  std::vector<Receiver*> agents_;
  std::vector<Ends> links_;
  std::map<PeerId, std::uint32_t> agent_of_;
  PeerId next_peer_ = 1;
  SeededDraws draws_;
  std::uint64_t under_way_max_ = 0;
  std::uint64_t payload_bytes_up_ = 0;  // under way
  std::uint64_t payloads_ = 0;          // sent
};

}  // namespace tributary
