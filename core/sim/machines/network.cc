#include "core/sim/machines/network.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "core/sim/checks/ledger.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

// Pause before an agent tries again to reach the coordinator.
constexpr TimeNs kDialAgainNs = 150 * kMs;
// One message in this many is kept, to be replayed later.
constexpr std::uint64_t kKeptShare = 61;
// A message that takes longer than the first time is reported as progress at intervals of the
// second.
constexpr TimeNs kProgressAfterNs = 250 * kMs;
constexpr TimeNs kProgressEveryNs = 500 * kMs;
// For repeat_payloads: one payload in this many is sent twice.
constexpr std::uint64_t kRepeatedShare = 3;

TimeNs whole_ns(double ms) { return static_cast<TimeNs>(ms * static_cast<double>(kMs)); }

FrameReceived event_of(PeerId peer, const Message& message, std::string_view authenticated_as) {
  return {.peer = peer,
          .frame = message.frame,
          .payload = message.payload.bytes,
          .authenticated_as = authenticated_as};
}

}  // namespace

SimulatedNetwork::SimulatedNetwork(SimulationContext& sim)
    : sim_(sim), draws_(sim.seed, DrawUse::hostile, 0) {
  for (std::uint32_t i = 0; i < sim.scenario.clients(); ++i) {
    links_.push_back({.links = agent_links(sim.scenario.network, sim.seed, i),
                      .old_up = {},
                      .old_down = {},
                      .hello = {}});
  }
}

void SimulatedNetwork::attach(Receiver& coordinator, std::vector<Receiver*> agents) {
  coordinator_ = &coordinator;
  agents_ = std::move(agents);
}

void SimulatedNetwork::dial(std::uint32_t agent) {
  Ends& ends = links_[agent];
  if (ends.dialing) return;
  ends.dialing = true;
  const SpanMs& dial = sim_.scenario.network.dial;
  sim_.queue.after(draws_.between(whole_ns(dial.low), whole_ns(dial.high)), [this, agent] {
    links_[agent].dialing = false;
    if (!agents_[agent]->listening()) return;
    connect(agent);
  });
}

// Connects the agent if the coordinator runs and neither direction is cut; otherwise tries again
// later.
void SimulatedNetwork::connect(std::uint32_t agent) {
  Ends& ends = links_[agent];
  const bool reachable =
      coordinator_->listening() && !up(agent).cut(sim_.now()) && !down(agent).cut(sim_.now());
  if (!reachable) {
    ends.dialing = true;
    sim_.queue.after(kDialAgainNs, [this, agent] {
      links_[agent].dialing = false;
      if (agents_[agent]->listening()) connect(agent);
    });
    return;
  }
  if (ends.peer != 0) agent_of_.erase(ends.peer);
  ends.peer = next_peer_++;
  agent_of_.emplace(ends.peer, agent);
  sim_.budget.connection_changed(agent, sim_.now());
  if (sim_.scenario.network.stream) {
    ends.links.up.restart();
    ends.links.down.restart();
  }
  // The coordinator may learn of a connection only from its first message.
  if (draws_.chance(0.5)) coordinator_->connected(ends.peer);
  agents_[agent]->connected(ends.peer);
}

void SimulatedNetwork::dial_all() {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    if (agents_[i]->listening()) dial(i);
  }
}

// Each side learns of the end after 1 ms, or not at all.
void SimulatedNetwork::hang_up(std::uint32_t agent) {
  Ends& ends = links_[agent];
  if (ends.peer == 0) return;
  const PeerId peer = std::exchange(ends.peer, 0);
  agent_of_.erase(peer);
  sim_.budget.connection_changed(agent, sim_.now());
  const bool coordinator_notices = draws_.chance(sim_.scenario.network.hang_up_noticed);
  const bool agent_notices = draws_.chance(sim_.scenario.network.hang_up_noticed);
  if (coordinator_notices && coordinator_->listening()) {
    sim_.queue.after(kMs, [this, peer] {
      if (coordinator_->listening()) coordinator_->disconnected(peer);
    });
  }
  if (agent_notices && agents_[agent]->listening()) {
    sim_.queue.after(kMs, [this, agent, peer] {
      if (agents_[agent]->listening()) agents_[agent]->disconnected(peer);
    });
  }
}

void SimulatedNetwork::forget(PeerId peer) {
  const auto found = agent_of_.find(peer);
  if (found == agent_of_.end()) return;
  const std::uint32_t agent = found->second;
  agent_of_.erase(found);
  sim_.budget.session_lost(agent, sim_.now());
  links_[agent].peer = next_peer_++;
  agent_of_.emplace(links_[agent].peer, agent);
}

// Keeps the first Hello and some later messages for the incidents that send them again.
void SimulatedNetwork::remember(Ends& ends, bool to_agent, const Message& message) {
  if (!to_agent && ends.hello.frame.empty() &&
      wire::GetFrame(message.frame.data())->message_type() == wire::Message::Hello) {
    ends.hello = message;
  }
  if (sim_.sent.links.messages % kKeptShare == 0)
    (to_agent ? ends.old_down : ends.old_up) = message;
}

void SimulatedNetwork::send_up(std::uint32_t agent, Message message) {
  Ends& ends = links_[agent];
  if (ends.peer == 0) return;
  remember(ends, false, message);
  if (ends.lies > 0) {
    if (auto lie = lie_about_sizes(message, draws_)) {
      --ends.lies;
      sim_.budget.disturbed(agent, sim_.now());
      sim_.tally.add(name(Incident::lying_agent));
      carry(agent, false, std::move(*lie));
    }
  }
  hand_over(agent, false, std::move(message));
}

// A message to a peer whose connection has ended is lost.
void SimulatedNetwork::send_down(PeerId peer, Message message) {
  const auto found = agent_of_.find(peer);
  if (found == agent_of_.end()) return;
  remember(links_[found->second], true, message);
  hand_over(found->second, true, std::move(message));
}

// Counts the message and sends it. For repeat_payloads, the planted bug sends some of them twice.
void SimulatedNetwork::hand_over(std::uint32_t agent, bool to_agent, Message message) {
  const auto count = [&] {
    sim_.budget.sent(agent, to_agent ? ByteBudget::down : ByteBudget::up,
                     *wire::GetFrame(message.frame.data()), sim_.now());
  };
  const auto kind = wire::GetFrame(message.frame.data())->message_type();
  sim_.sent.message_bytes[static_cast<std::size_t>(kind)] += message.bytes();
  count();
  if (sim_.mutation == Mutation::repeat_payloads && message.has_payload &&
      ++payloads_ % kRepeatedShare == 0) {
    count();
    carry(agent, to_agent, message);
  }
  carry(agent, to_agent, std::move(message));
}

// Passes the message over its link and plans the arrival of each copy.
void SimulatedNetwork::carry(std::uint32_t agent, bool to_agent, Message message) {
  const Passage passage =
      link(agent, to_agent).pass(sim_.now(), message.bytes(), sim_.faulty, sim_.sent.links);
  if (!passage.unharmed()) sim_.budget.disturbed(agent, sim_.now());
  std::optional<Message> again;
  if (passage.copies == 2) again = message;
  if (passage.copies > 0) {
    std::optional<Message> whole = passage.flip ? flip_a_bit(message, draws_) : std::move(message);
    if (whole) {
      put_under_way(agent, to_agent, std::move(*whole), passage.first_byte_at_ns,
                    passage.arrives_at_ns[0]);
    }
  }
  if (again) {
    const TimeNs at = passage.arrives_at_ns[1];
    put_under_way(agent, to_agent, std::move(*again), at, at);
  }
}

// Plans the arrival of a message, and progress reports if it takes long.
void SimulatedNetwork::put_under_way(std::uint32_t agent, bool to_agent, Message message,
                                     TimeNs first_byte_at_ns, TimeNs arrives_at_ns) {
  Ends& ends = links_[agent];
  under_way_max_ = std::max(under_way_max_, ++ends.under_way);
  if (!to_agent) payload_bytes_up_ += message.payload.bytes.size();
  const auto transfer =
      std::make_shared<Transfer>(Transfer{.agent = agent,
                                          .peer = ends.peer,
                                          .to_agent = to_agent,
                                          .arrives_at_ns = arrives_at_ns,
                                          .held_up_ns = link(agent, to_agent).held_up_ns(),
                                          .message = std::move(message)});
  if (arrives_at_ns - first_byte_at_ns > kProgressAfterNs) {
    show_progress(transfer, first_byte_at_ns + kProgressAfterNs);
  }
  arrive_in_time(transfer);
}

// The link may be cut while the message is in flight. The arrival is then planned again, later by
// the duration of the cut.
void SimulatedNetwork::arrive_in_time(const std::shared_ptr<Transfer>& transfer) {
  sim_.queue.at(transfer->arrives_at_ns, [this, transfer] {
    const TimeNs held_up_ns = link(transfer->agent, transfer->to_agent).held_up_ns();
    const TimeNs later = held_up_ns - transfer->held_up_ns;
    if (later == 0) return arrive(*transfer);
    transfer->held_up_ns = held_up_ns;
    transfer->arrives_at_ns += later;
    arrive_in_time(transfer);
  });
}

void SimulatedNetwork::arrive(const Transfer& transfer) {
  const auto [agent, peer, to_agent] = std::tuple(transfer.agent, transfer.peer, transfer.to_agent);
  --links_[agent].under_way;
  if (!to_agent) payload_bytes_up_ -= transfer.message.payload.bytes.size();
  // Messages in flight are lost when their connection ends.
  if (peer == 0 || links_[agent].peer != peer) return;
  Receiver& receiver = to_agent ? *agents_[agent] : *coordinator_;
  if (!receiver.listening()) return;
  const std::string agent_id = Ledger::agent_name(agent);
  receiver.receive(event_of(peer, transfer.message, to_agent ? std::string_view() : agent_id));
}

// Reports progress until the message has arrived, but not while its link is cut.
void SimulatedNetwork::show_progress(std::weak_ptr<const Transfer> transfer, TimeNs at_ns) {
  sim_.queue.at(at_ns, [this, transfer = std::move(transfer), at_ns] {
    const std::shared_ptr<const Transfer> held = transfer.lock();
    if (!held || links_[held->agent].peer != held->peer) return;
    if (!link(held->agent, held->to_agent).cut(sim_.now())) {
      Receiver& receiver = held->to_agent ? *agents_[held->agent] : *coordinator_;
      if (receiver.listening()) receiver.alive(held->peer);
    }
    show_progress(held, at_ns + kProgressEveryNs);
  });
}

// --- faults --------------------------------------------------------------------------------------

void SimulatedNetwork::mend_all() {
  for (Ends& ends : links_) {
    ends.links.up.mend();
    ends.links.down.mend();
    ends.lies = 0;
  }
}

// Faults count as disturbances of the agent, so that the byte budget allows the repetitions that
// they cause.
void SimulatedNetwork::replay(std::uint32_t agent) {
  const Ends& ends = links_[agent];
  if (ends.peer == 0) return;
  sim_.budget.disturbed(agent, sim_.now());
  if (!ends.old_up.frame.empty()) carry(agent, false, ends.old_up);
  if (!ends.old_down.frame.empty()) carry(agent, true, ends.old_down);
}

void SimulatedNetwork::intrude(Message message, std::string authenticated_as) {
  const PeerId peer = next_peer_++;
  sim_.queue.after(
      kMs, [this, peer, message = std::move(message), agent_id = std::move(authenticated_as)] {
        if (coordinator_->listening()) coordinator_->receive(event_of(peer, message, agent_id));
      });
}

void SimulatedNetwork::disturb(std::uint32_t agent, bool to_agent, Message message) {
  if (links_[agent].peer == 0) return;
  sim_.budget.disturbed(agent, sim_.now());
  carry(agent, to_agent, std::move(message));
}

}  // namespace tributary
