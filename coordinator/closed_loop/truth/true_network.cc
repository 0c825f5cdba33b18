#include "coordinator/closed_loop/truth/true_network.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

constexpr double kPieceBytesMin = 8192;
constexpr std::uint32_t kTruePiecesMax = 8;

}  // namespace

// A window doubles with every round trip, until it covers the link. In every round trip before that
// the link idles for the rest of the time.
double TcpWindows::delay_s(std::uint32_t from, std::uint32_t to, double bytes, double s_per_byte,
                           double round_trip_s, double at_s) {
  Window& window = windows_[{from, to}];
  if (at_s - window.used_at_s > kIdle_s) window.bytes = kInitialBytes;
  window.used_at_s = at_s + bytes * s_per_byte;
  double delay_s = 0;
  double left = bytes;
  // An unlimited link is never covered; the last window then ends the transfer.
  while (window.bytes * s_per_byte < round_trip_s && left > window.bytes) {
    delay_s += round_trip_s - window.bytes * s_per_byte;
    left -= window.bytes;
    window.bytes *= 2;
  }
  return delay_s;
}

TrueNetwork::TrueNetwork(const TrueFederation& federation,
                         const std::vector<std::uint32_t>& members, TcpWindows& windows,
                         double now_s, OnArrival on_arrival)
    : federation_(federation),
      members_(members),
      windows_(windows),
      on_arrival_(std::move(on_arrival)),
      hub_(static_cast<std::uint32_t>(members.size())),
      core_free_s_(members.size() + 1, now_s),
      now_s_(now_s) {
  const auto add = [now_s](std::vector<Port>& ports, const LinkLine& line) {
    Port& port = ports.emplace_back();
    port.line = &line;
    port.free_s = now_s;
  };
  for (const std::uint32_t member : members_) {
    const TrueAgent& agent = federation_.agents[member];
    add(out_, agent.up);
    add(in_, agent.down);
    add(peers_out_, agent.peers);
    add(peers_in_, agent.peers);
  }
  add(out_, federation_.coordinator);
  add(in_, federation_.coordinator);
}

bool TrueNetwork::by_peers(std::uint32_t from, std::uint32_t to) const {
  return from != hub_ && to != hub_;
}

TrueNetwork::Port& TrueNetwork::sender(std::uint32_t from, std::uint32_t to) {
  return by_peers(from, to) && !federation_.peers_share_ports ? peers_out_[from] : out_[from];
}

TrueNetwork::Port& TrueNetwork::receiver(std::uint32_t from, std::uint32_t to) {
  return by_peers(from, to) && !federation_.peers_share_ports ? peers_in_[to] : in_[to];
}

double TrueNetwork::latency_s(std::uint32_t from, std::uint32_t to) const {
  if (from == hub_) return agent(to).down.latency_s(now_s_);
  if (to == hub_) return agent(from).up.latency_s(now_s_);
  if (federation_.peers_share_ports) {
    return agent(from).up.latency_s(now_s_) + agent(to).down.latency_s(now_s_);
  }
  return std::max(agent(from).peers.latency_s(now_s_), agent(to).peers.latency_s(now_s_));
}

void TrueNetwork::at(double when_s, Done what) {
  events_.push_back({when_s, number_++, std::move(what)});
  std::push_heap(events_.begin(), events_.end());
}

void TrueNetwork::run() {
  while (!events_.empty()) {
    std::pop_heap(events_.begin(), events_.end());
    const Event event = std::move(events_.back());
    events_.pop_back();
    now_s_ = event.at_s;
    event.what();
  }
}

void TrueNetwork::compute(std::uint32_t node, double seconds, Done done) {
  double& free_s = core_free_s_[node];
  free_s = std::max(free_s, now_s_) + seconds;
  at(free_s, std::move(done));
}

void TrueNetwork::send(std::uint32_t from, std::uint32_t to, double bytes, Done done) {
  ++messages_;
  Port& port = sender(from, to);
  const double s_per_byte = std::max(port.line->seconds_per_byte(now_s_),
                                     receiver(from, to).line->seconds_per_byte(now_s_));
  const auto pieces = static_cast<std::uint32_t>(
      std::clamp(bytes / kPieceBytesMin, 1.0, static_cast<double>(kTruePiecesMax)));
  // Connections are those of agents, which stay the same when others come and go.
  const auto identity = [&](std::uint32_t node) {
    return node == hub_ ? static_cast<std::uint32_t>(federation_.agents.size()) : members_[node];
  };
  const double delay_s = windows_.delay_s(identity(from), identity(to), bytes, s_per_byte,
                                          2 * latency_s(from, to), now_s_);
  std::deque<Message>& messages = port.waiting[to];
  messages.push_back({.from = from,
                      .to = to,
                      .bytes = bytes,
                      .pieces = pieces,
                      .pieces_left = pieces,
                      .delay_s = delay_s,
                      .done = std::move(done)});
  if (messages.size() == 1) port.turns.push_back(to);
  if (!port.busy) send_piece(port);
}

// Connections share their sender's port piece by piece.
void TrueNetwork::send_piece(Port& port) {
  port.busy = !port.turns.empty();
  if (!port.busy) return;
  const std::uint32_t to = port.turns.front();
  port.turns.pop_front();
  std::deque<Message>& messages = port.waiting[to];
  Message& message = messages.front();
  const double piece_bytes = message.bytes / message.pieces;
  --message.pieces_left;
  const bool last = message.pieces_left == 0;
  Arrival arrival = {.from = message.from,
                     .to = to,
                     .arrived_bytes = piece_bytes * (message.pieces - message.pieces_left),
                     .piece_bytes = piece_bytes,
                     .last = last};
  const double delay_s = message.delay_s;
  Done done = last ? std::move(message.done) : Done();
  if (last) messages.pop_front();
  if (!messages.empty()) port.turns.push_back(to);
  const double gone_s = port.line->sent_at(now_s_, piece_bytes);
  const double behind_s = delay_s + latency_s(arrival.from, to);
  arrival.began_s = now_s_ + behind_s;
  at(gone_s, [this, &port] { send_piece(port); });
  at(gone_s + behind_s, [this, arrival, done = std::move(done)] { receive(arrival, done); });
}

// A receiver's port takes pieces in the order of their arrival. A piece begins to arrive while it
// is still being sent.
void TrueNetwork::receive(const Arrival& arrival, const Done& done) {
  Port& port = receiver(arrival.from, arrival.to);
  const double begins_s = std::max(port.free_s, arrival.began_s);
  port.free_s = std::max(now_s_, port.line->sent_at(begins_s, arrival.piece_bytes));
  at(port.free_s, [this, landed = arrival, done]() mutable {
    landed.at_s = now_s_;
    if (on_arrival_) on_arrival_(landed);
    if (done) done();
  });
}

}  // namespace tributary
