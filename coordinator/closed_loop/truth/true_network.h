// The true network of one round: ports with rates that change over time, messages in pieces,
// queues, and TCP connections that begin slowly. It knows no cost formula (core/cost), so the
// planner's predictions are not compared with themselves.
//
// Nodes 0 to n-1 are the members of the round, and node n is the coordinator. Times are virtual
// seconds. Not thread-safe. The lines must outlive the object.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "coordinator/closed_loop/truth/link_line.h"
#include "coordinator/closed_loop/truth/true_federation.h"

namespace tributary {

// Congestion windows of all connections, which survive from round to round.
class TcpWindows {
 public:
  static constexpr double kInitialBytes = 14'480;  // ten segments
  static constexpr double kIdle_s = 0.2;  // a connection that is idle for longer begins again

  // Returns the time that a transfer takes in addition, because its connection sends less than the
  // link could carry. `at_s` must not decrease per connection.
  double delay_s(std::uint32_t from, std::uint32_t to, double bytes, double s_per_byte,
                 double round_trip_s, double at_s);

 private:
  struct Window {
    double bytes = kInitialBytes;
    double used_at_s = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Window> windows_;
};

class TrueNetwork {
 public:
  using Done = std::function<void()>;
  // An arrival of a piece of a message: the bytes of the message so far and in all.
  struct Arrival {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    double began_s = 0;  // arrival of the piece's first byte
    double at_s = 0;
    double arrived_bytes = 0;
    double piece_bytes = 0;
    bool last = false;
  };
  using OnArrival = std::function<void(const Arrival& arrival)>;

  // `members` are indexes of the federation's agents.
  TrueNetwork(const TrueFederation& federation, const std::vector<std::uint32_t>& members,
              TcpWindows& windows, double now_s, OnArrival on_arrival);

  double now_s() const { return now_s_; }
  void at(double when_s, Done what);
  // Queues a message at its sender. `done` runs when all of it has arrived.
  void send(std::uint32_t from, std::uint32_t to, double bytes, Done done);
  // Runs work on a node's only core, after the work that it already has.
  void compute(std::uint32_t node, double seconds, Done done);
  // Runs all events.
  void run();
  std::uint64_t messages() const { return messages_; }

 private:
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    double bytes = 0;
    std::uint32_t pieces = 1;
    std::uint32_t pieces_left = 1;
    double delay_s = 0;
    Done done;
  };
  struct Port {
    const LinkLine* line = nullptr;
    std::map<std::uint32_t, std::deque<Message>> waiting;  // by receiver
    std::deque<std::uint32_t> turns;
    bool busy = false;
    double free_s = 0;  // time at which the port can receive again
  };
  struct Event {
    double at_s;
    std::uint64_t number;
    Done what;
    bool operator<(const Event& other) const {
      return at_s != other.at_s ? at_s > other.at_s : number > other.number;
    }
  };

  const TrueAgent& agent(std::uint32_t node) const { return federation_.agents[members_[node]]; }
  bool by_peers(std::uint32_t from, std::uint32_t to) const;
  Port& sender(std::uint32_t from, std::uint32_t to);
  Port& receiver(std::uint32_t from, std::uint32_t to);
  double latency_s(std::uint32_t from, std::uint32_t to) const;
  void send_piece(Port& port);
  void receive(const Arrival& arrival, const Done& done);

  const TrueFederation& federation_;
  const std::vector<std::uint32_t> members_;
  TcpWindows& windows_;
  OnArrival on_arrival_;
  std::uint32_t hub_;
  std::vector<Port> out_;  // by node, the coordinator last
  std::vector<Port> in_;
  std::vector<Port> peers_out_;  // unused if peers share ports
  std::vector<Port> peers_in_;
  std::vector<double> core_free_s_;
  std::vector<Event> events_;  // a heap, whose next event can be moved out
  std::uint64_t number_ = 0;
  std::uint64_t messages_ = 0;
  double now_s_ = 0;
};

}  // namespace tributary
