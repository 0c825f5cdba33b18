// Connections of the agents among themselves, one of each pair that has opened the same session: in
// order, nothing lost and nothing twice as long as it stands, and gone for good in that session
// once it breaks. What goes to somebody who has not opened the session yet waits for that.
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
#include "core/sim/machines/room.h"

namespace tributary {

class PeerNetwork {
 public:
  explicit PeerNetwork(Room& room);

  // What an agent is told goes to its entry. Once, before anything else.
  using Tell = std::function<void(const Event&)>;
  void attach(std::vector<Tell> agents) { agents_ = std::move(agents); }

  // What an agent says where it can be reached.
  static std::string endpoint(std::uint32_t agent);

  void open(std::uint32_t agent, const OpenPeers& open);
  // It hangs up, or its process has ended.
  void close(std::uint32_t agent);
  void send(std::uint32_t from, SendToPeer sent);

  // --- faults ---
  // From everybody else. Some connections break by it; in the others everything waits.
  void cut_off(const std::vector<std::uint32_t>& agents, TimeNs until_ns);
  void slow_until(std::uint32_t agent, TimeNs until_ns, TimeNs delay_ns);
  // So many, or all there are.
  void break_some(std::uint64_t connections);
  // The one between these two in the session that both have open; nothing where there is none.
  void break_between(std::uint32_t one, std::uint32_t other);
  // In so many of the next messages that this agent sends a bit is not what its machine asked for.
  void let_lie(std::uint32_t agent, std::uint32_t messages) { lies_[agent] = messages; }
  void mend_all();

  // The agent that this one calls `member` in its session; nothing where it has none open.
  std::optional<std::uint32_t> agent_of(std::uint32_t agent, std::uint32_t member) const;
  // Of a pair, one way.
  std::uint64_t under_way_max() const { return under_way_max_; }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // from, to; of a connection: low, high

  struct Mail {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t session = 0;
    std::uint32_t member = 0;  // who sends it
    Bytes frame;
    SharedSlice payload;
  };
  struct Connection {
    bool broken = false;
    bool drains = false;  // what was sent before it broke still arrives
    // For whoever opens the session later, to the lower number and to the higher.
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
  struct Way {
    Link link;
    std::uint64_t under_way = 0;
    TimeNs arrived_by_ns = 0;  // everything that is under way
  };

  Way& way(std::uint32_t from, std::uint32_t to);
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
  void tell(std::uint32_t agent, std::uint32_t lost, std::uint64_t session);
  void falsify(Mail& mail);

  Room& room_;
  std::vector<Tell> agents_;
  std::vector<End> ends_;
  std::vector<std::uint32_t> lies_;
  std::map<Pair, Way> ways_;
  std::map<std::uint64_t, Session> sessions_;  // the last ones
  std::deque<std::uint64_t> session_order_;
  SeededDraws draws_;
  std::uint64_t under_way_max_ = 0;
};

}  // namespace tributary
