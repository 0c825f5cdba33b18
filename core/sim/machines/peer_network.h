// The simulated connections among agents. Two agents that have opened the same session have one
// connection. While it exists, messages arrive in order and exactly once. Once it breaks, it stays
// broken for that session. Messages to an agent that has not opened the session yet wait until it
// does.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/round/common/machine/actions.h"
#include "core/sim/link/link.h"
#include "core/sim/machines/simulation_context.h"

namespace tributary {

// Not thread-safe; all times are virtual.
class PeerNetwork {
 public:
  explicit PeerNetwork(SimulationContext& sim);

  // Receives the events of the agent with the same index. Call attach() once, before anything else.
  using Handler = std::function<void(const Event&)>;
  void attach(std::vector<Handler> agents) { agents_ = std::move(agents); }

  // The endpoint that the agent reports for its peers.
  static std::string endpoint(std::uint32_t agent);

  void open(std::uint32_t agent, const OpenPeers& open);
  // The agent closes its session, or its process has ended.
  void close(std::uint32_t agent);
  void send(std::uint32_t from, SendToPeer sent);

  // Separates these agents from all others. Some of their connections break, and on the others
  // everything waits.
  void cut_off(const std::vector<std::uint32_t>& agents, TimeNs until_ns);
  void slow_until(std::uint32_t agent, TimeNs until_ns, TimeNs delay_ns);
  // Breaks this many connections, or all if fewer exist.
  void break_some(std::uint64_t connections);
  // Breaks the connection between these two in their common session, if one exists.
  void break_between(std::uint32_t one, std::uint32_t other);
  // Changes a bit in this many of the next messages that the agent sends.
  void let_lie(std::uint32_t agent, std::uint32_t messages) { lies_[agent] = messages; }
  void mend_all();

  // The agent that this one calls `member` in its session; empty if it has no open session.
  std::optional<std::uint32_t> agent_of(std::uint32_t agent, std::uint32_t member) const;
  // Largest number of messages in flight in one direction between two agents.
  std::uint64_t under_way_max() const { return under_way_max_; }

 private:
  // From and to. For a connection: the lower and the higher index.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  struct Mail {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t session = 0;
    std::uint32_t member = 0;  // the sender's number in the session
    Bytes frame;
    SharedSlice payload;
  };
  struct Connection {
    bool broken = false;
    bool drains = false;  // messages sent before the break still arrive
    // Messages for the agent with the lower and the higher index, until it opens the session.
    std::array<std::deque<Mail>, 2> waiting;
  };
  struct Session {
    std::vector<std::uint32_t> agents;  // by member
    std::map<Pair, Connection> connections;
  };
  struct End {
    std::uint64_t session = 0;
    std::uint32_t member = 0;
  };
  struct DirectedLink {
    Link link;
    std::uint64_t under_way = 0;
    TimeNs arrived_by_ns = 0;  // arrival time of the last message in flight
  };

  DirectedLink& directed_link(std::uint32_t from, std::uint32_t to);
  Connection* connection(std::uint64_t session, std::uint32_t one, std::uint32_t other);
  std::deque<Mail>& waiting(Connection& connection, const Mail& mail) {
    return connection.waiting[mail.to > mail.from ? 1 : 0];
  }
  Session& session_of(const OpenPeers& open);
  void give_up_connecting(std::uint32_t agent);
  void arrive(Mail mail);
  void hand_over(const Mail& mail);
  void hand_over_waiting(std::uint32_t to, std::uint64_t session);
  void break_connection(std::uint64_t session, std::uint32_t one, std::uint32_t other, bool drains);
  void report_loss(std::uint32_t agent, std::uint32_t lost, std::uint64_t session);
  void falsify(Mail& mail);

  SimulationContext& sim_;
  std::vector<Handler> agents_;
  std::vector<End> ends_;
  std::vector<std::uint32_t> lies_;
  std::map<Pair, DirectedLink> directed_links_;
  std::map<std::uint64_t, Session> sessions_;  // the most recent sessions
  std::deque<std::uint64_t> session_order_;
  SeededDraws draws_;
  std::uint64_t under_way_max_ = 0;
};

}  // namespace tributary
