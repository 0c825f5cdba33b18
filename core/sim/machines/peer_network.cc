#include "core/sim/machines/peer_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace tributary {
namespace {

constexpr std::size_t kSessionsMax = 16;  // older sessions are forgotten
// An agent that has not opened the session by then is reported as lost.
constexpr TimeNs kConnectNs = 3'000 * kMs;
// Time until an end learns that its connection has broken: mostly short, sometimes long, and
// sometimes it never does.
constexpr TimeNs kLossNoticedNs = 30 * kMs;
constexpr TimeNs kLossNoticedLateNs = 2'000 * kMs;

// The agent's index, which the endpoint ends with. UINT32_MAX if it ends with something else.
std::uint32_t agent_at(const std::string& endpoint) {
  const auto digits = endpoint.find_last_not_of("0123456789") + 1;
  std::uint32_t agent = UINT32_MAX;
  std::from_chars(endpoint.data() + digits, endpoint.data() + endpoint.size(), agent);
  return agent;
}

}  // namespace

PeerNetwork::PeerNetwork(SimulationContext& sim)
    : sim_(sim),
      ends_(sim.scenario.agents),
      lies_(sim.scenario.agents),
      draws_(sim.seed, DrawUse::peers, 0) {}

std::string PeerNetwork::endpoint(std::uint32_t agent) { return fmt::format("peer-{}", agent); }

// The link from one agent to another. It exists from its first use on.
PeerNetwork::DirectedLink& PeerNetwork::directed_link(std::uint32_t from, std::uint32_t to) {
  const auto found = directed_links_.find({from, to});
  if (found != directed_links_.end()) return found->second;
  const std::uint64_t index = std::uint64_t{from} << 32 | to;
  Link link(sim_.scenario.network, SeededDraws(sim_.seed, DrawUse::peer_link, index));
  return directed_links_.emplace(Pair{from, to}, DirectedLink{.link = link}).first->second;
}

PeerNetwork::Connection* PeerNetwork::connection(std::uint64_t session, std::uint32_t each,
                                                 std::uint32_t other) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return nullptr;
  return &found->second.connections[std::minmax(each, other)];
}

// --- sessions ------------------------------------------------------------------------------------

// The session of this number. The first agent that opens it defines its members.
PeerNetwork::Session& PeerNetwork::session_of(const OpenPeers& open) {
  const auto found = sessions_.find(open.session);
  if (found != sessions_.end()) return found->second;
  if (session_order_.size() == kSessionsMax) {
    sessions_.erase(session_order_.front());
    session_order_.pop_front();
  }
  session_order_.push_back(open.session);
  Session& session = sessions_[open.session];
  for (const OpenPeers::Member& member : open.members) {
    session.agents.push_back(agent_at(member.endpoint));
  }
  return session;
}

// The agent opens a session; its previous one ends.
void PeerNetwork::open(std::uint32_t agent, const OpenPeers& open) {
  close(agent);
  Session& session = session_of(open);
  ends_[agent] = {.session = open.session, .member = open.member};
  for (const std::uint32_t other : session.agents) {
    if (other == agent || other >= agents_.size()) continue;
    // The connection broke before this agent opened the session.
    if (session.connections[std::minmax(agent, other)].broken)
      report_loss(agent, other, open.session);
  }
  const TimeNs connected_ns = draw_ns(sim_.scenario.network.delay, draws_);
  sim_.queue.after(connected_ns,
                   [this, agent, number = open.session] { hand_over_waiting(agent, number); });
  sim_.queue.after(kConnectNs, [this, agent, number = open.session] {
    if (ends_[agent].session == number) give_up_connecting(agent);
  });
}

// The agent loses the members that have not opened the session.
void PeerNetwork::give_up_connecting(std::uint32_t agent) {
  const std::uint64_t number = ends_[agent].session;
  const auto session = sessions_.find(number);
  if (session == sessions_.end()) return;
  for (const std::uint32_t other : session->second.agents) {
    if (other == agent || other >= agents_.size() || ends_[other].session == number) continue;
    break_connection(number, agent, other, false);
  }
}

void PeerNetwork::close(std::uint32_t agent) {
  const End end = std::exchange(ends_[agent], {});
  const auto session = sessions_.find(end.session);
  if (session == sessions_.end()) return;
  // An operating system may still send data that its process has written.
  const bool drains = draws_.chance(0.5);
  for (const std::uint32_t other : session->second.agents) {
    if (other == agent || other >= agents_.size()) continue;
    break_connection(end.session, agent, other, drains);
  }
}

// Breaks the connection and informs both ends. Waiting messages are lost.
void PeerNetwork::break_connection(std::uint64_t session, std::uint32_t one, std::uint32_t other,
                                   bool drains) {
  Connection* const broken = connection(session, one, other);
  if (broken == nullptr || broken->broken) return;
  broken->broken = true;
  broken->drains = drains;
  broken->waiting = {};
  report_loss(one, other, session);
  report_loss(other, one, session);
}

// The notification comes after all messages of the lost agent that are in flight.
void PeerNetwork::report_loss(std::uint32_t agent, std::uint32_t lost, std::uint64_t session) {
  if (ends_[agent].session != session) return;
  const NetworkSettings& network = sim_.scenario.network;
  if (sim_.faulty && draws_.chance(network.peer_losses_missed)) return sim_.tally.add("half_open");
  const bool late = sim_.faulty && draws_.chance(network.peer_losses_late);
  const TimeNs delay = draws_.between(kMs, late ? kLossNoticedLateNs : kLossNoticedNs);
  const TimeNs at = std::max(sim_.now(), directed_link(lost, agent).arrived_by_ns) + delay;
  sim_.queue.at(at, [this, agent, lost, session] {
    const auto found = sessions_.find(session);
    if (ends_[agent].session != session || found == sessions_.end()) return;
    const auto member = std::ranges::find(found->second.agents, lost);
    agents_[agent](PeerLost{
        .session = session,
        .member = static_cast<std::uint32_t>(member - found->second.agents.begin()),
        .why = Status(StatusCode::unavailable, {.what = "connection to " + endpoint(lost)})});
  });
}

std::optional<std::uint32_t> PeerNetwork::agent_of(std::uint32_t agent,
                                                   std::uint32_t member) const {
  const auto session = sessions_.find(ends_[agent].session);
  if (session == sessions_.end() || member >= session->second.agents.size()) return std::nullopt;
  return session->second.agents[member];
}

// --- messages ------------------------------------------------------------------------------------

// Passes a message over its link. A message on a broken connection is lost.
void PeerNetwork::send(std::uint32_t from, SendToPeer sent) {
  const End end = ends_[from];
  const auto session = sessions_.find(end.session);
  if (session == sessions_.end() || sent.member >= session->second.agents.size()) return;
  const std::uint32_t to = session->second.agents[sent.member];
  if (to >= agents_.size() || connection(end.session, from, to)->broken) return;
  Mail mail{.from = from,
            .to = to,
            .session = end.session,
            .member = end.member,
            .frame = std::move(sent.frame),
            .payload = std::move(sent.payload)};
  if (lies_[from] > 0) {
    --lies_[from];
    falsify(mail);
  }
  DirectedLink& carrier = directed_link(from, to);
  // Messages that a partition delays are retransmitted at its end.
  const TimeNs at = std::max(sim_.now(), carrier.link.cut_until_ns());
  const std::size_t bytes = mail.frame.size() + mail.payload.size();
  sim_.sent.peer_bytes += bytes;
  // The links among peers have no faults of single messages.
  const Passage passage = carrier.link.pass(at, bytes, false, sim_.sent.links);
  carrier.arrived_by_ns = std::max(carrier.arrived_by_ns, passage.arrives_at_ns[0]);
  under_way_max_ = std::max(under_way_max_, ++carrier.under_way);
  sim_.queue.at(carrier.arrived_by_ns,
                [this, mail = std::move(mail)]() mutable { arrive(std::move(mail)); });
}

// Delivers the message, or keeps it until the receiver opens the session. Messages on a broken
// connection only arrive if it drains.
void PeerNetwork::arrive(Mail mail) {
  --directed_link(mail.from, mail.to).under_way;
  Connection* const carrier = connection(mail.session, mail.from, mail.to);
  if (carrier == nullptr || (carrier->broken && !carrier->drains)) return;
  std::deque<Mail>& before = waiting(*carrier, mail);
  if (before.empty() && ends_[mail.to].session == mail.session) return hand_over(mail);
  if (carrier->broken) return;
  before.push_back(std::move(mail));
  under_way_max_ = std::max<std::uint64_t>(under_way_max_, before.size());
}

void PeerNetwork::hand_over(const Mail& mail) {
  if (ends_[mail.to].session != mail.session) return;
  agents_[mail.to](PeerFrameReceived{
      .session = mail.session, .from = mail.member, .frame = mail.frame, .payload = mail.payload});
}

// The agent's process may end during each of them, and its connections then end too.
void PeerNetwork::hand_over_waiting(std::uint32_t to, std::uint64_t session) {
  for (std::uint32_t from = 0; from < agents_.size(); ++from) {
    if (from == to) continue;
    while (ends_[to].session == session) {
      Connection* const carrier = connection(session, from, to);
      std::deque<Mail>* const mails = carrier ? &carrier->waiting[to > from ? 1 : 0] : nullptr;
      if (mails == nullptr || mails->empty()) break;
      const Mail mail = std::move(mails->front());
      mails->pop_front();
      hand_over(mail);
    }
  }
}

// --- faults --------------------------------------------------------------------------------------

// Flips one bit of the frame or of a copy of the payload. The sender's own payload stays unchanged.
void PeerNetwork::falsify(Mail& mail) {
  sim_.tally.add(name(Incident::lying_peer));
  const auto flip = [&](Bytes& bytes) {
    bytes[draws_.below(bytes.size())] ^= static_cast<std::uint8_t>(1u << draws_.below(8));
  };
  if (mail.payload.empty() || draws_.chance(0.5)) return flip(mail.frame);
  const ByteSpan payload = mail.payload.view();
  Bytes changed(payload.begin(), payload.end());
  flip(changed);
  mail.payload = SharedSlice(std::move(changed));
}

// Cuts the links between the two groups, and breaks some of their connections.
void PeerNetwork::cut_off(const std::vector<std::uint32_t>& agents, TimeNs until_ns) {
  if (!sim_.scenario.by_peers()) return;
  for (const std::uint32_t inside : agents) {
    for (std::uint32_t outside = 0; outside < agents_.size(); ++outside) {
      if (std::ranges::find(agents, outside) != agents.end()) continue;
      directed_link(inside, outside).link.cut_until(until_ns);
      directed_link(outside, inside).link.cut_until(until_ns);
      const std::uint64_t session = ends_[inside].session;
      if (session == 0 || ends_[outside].session != session || draws_.chance(0.5)) continue;
      sim_.tally.add("peer_cut");
      break_connection(session, inside, outside, false);
    }
  }
}

void PeerNetwork::slow_until(std::uint32_t agent, TimeNs until_ns, TimeNs delay_ns) {
  if (!sim_.scenario.by_peers()) return;
  for (std::uint32_t other = 0; other < agents_.size(); ++other) {
    if (other == agent) continue;
    directed_link(agent, other).link.slow_until(until_ns, delay_ns);
    directed_link(other, agent).link.slow_until(until_ns, delay_ns);
  }
}

// Breaks connections that are drawn from those that exist now.
void PeerNetwork::break_some(std::uint64_t connections) {
  std::vector<Pair> standing;
  for (std::uint32_t low = 0; low < ends_.size(); ++low) {
    const std::uint64_t session = ends_[low].session;
    for (std::uint32_t high = low + 1; session != 0 && high < ends_.size(); ++high) {
      if (ends_[high].session != session) continue;
      const Connection* const between = connection(session, low, high);
      if (between != nullptr && !between->broken) standing.emplace_back(low, high);
    }
  }
  for (; connections > 0 && !standing.empty(); --connections) {
    const std::size_t place = draws_.below(standing.size());
    const auto [low, high] = standing[place];
    standing.erase(standing.begin() + static_cast<std::ptrdiff_t>(place));
    sim_.tally.add(name(Incident::peer_break));
    break_connection(ends_[low].session, low, high, draws_.chance(0.5));
  }
}

void PeerNetwork::break_between(std::uint32_t one, std::uint32_t other) {
  const std::uint64_t session = ends_[one].session;
  if (session != 0 && ends_[other].session == session) {
    break_connection(session, one, other, false);
  }
}

void PeerNetwork::mend_all() {
  for (auto& [pair, directed_link] : directed_links_) directed_link.link.mend();
  std::ranges::fill(lies_, 0);
}

}  // namespace tributary
