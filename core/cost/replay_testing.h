// Simulates an exchange message by message: ports that send and receive at a rate, a switch that
// never drops, and members that follow core/collective/exchange.h. The closed formulas of
// exchange_cost.h are compared with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/cost/exchange_cost.h"
#include "core/cost/exchange_shape.h"

namespace tributary {

// A byte keeps a port busy for a microsecond, so a payload of 1,000 bytes for 1 ms.
inline constexpr double kBeta = 1e-6;

inline ExchangeNetwork network_of(double alpha_s, double hub_beta = kBeta) {
  return {.agents = {.alpha_s = alpha_s, .beta_s_per_byte = kBeta},
          .hub = {.alpha_s = alpha_s, .beta_s_per_byte = hub_beta}};
}

// A network of ports. Messages are cut into pieces, so receiving overlaps with sending. Connections
// share their sender's port piece by piece, and a receiver's port takes pieces in order of arrival.
// With frames, pieces are frames, and a receiver's port begins with a frame when it has all of it.
class ReplayNetwork {
 public:
  using Done = std::function<void()>;
  static constexpr std::uint32_t kPieces = 16;

  explicit ReplayNetwork(std::vector<LinkEstimate> ports, double frame_bytes = 0)
      : ports_(ports.size()), frame_bytes_(frame_bytes) {
    for (std::size_t i = 0; i < ports.size(); ++i) ports_[i].link = ports[i];
  }

  void send(std::uint32_t from, std::uint32_t to, double bytes, Done done) {
    Port& port = ports_[from];
    port.sent += bytes;
    ports_[to].received += bytes;
    const std::uint32_t pieces =
        frame_bytes_ > 0 ? static_cast<std::uint32_t>(std::ceil(bytes / frame_bytes_)) : kPieces;
    port.waiting[to].push_back({bytes / pieces, pieces, std::move(done)});
    if (port.waiting[to].size() == 1) port.turns.push_back(to);
    if (!port.busy) send_piece(from);
  }

  double run() {
    while (!events_.empty()) {
      std::pop_heap(events_.begin(), events_.end());
      const Event event = std::move(events_.back());
      events_.pop_back();
      now_s_ = event.at_s;
      event.what();
    }
    return now_s_;
  }

  double sent(std::uint32_t member) const { return ports_[member].sent; }
  double received(std::uint32_t member) const { return ports_[member].received; }

 private:
  struct Message {
    double piece_bytes;
    std::uint32_t pieces_left;
    Done done;
  };
  struct Port {
    LinkEstimate link;
    std::map<std::uint32_t, std::deque<Message>> waiting;
    std::deque<std::uint32_t> turns;
    bool busy = false;
    double free_s = 0;  // time at which the port can receive again
    double sent = 0;
    double received = 0;
  };
  struct Event {
    double at_s;
    std::uint64_t number;
    Done what;
    bool operator<(const Event& other) const {
      return at_s != other.at_s ? at_s > other.at_s : number > other.number;
    }
  };

  void at(double when_s, Done what) {
    events_.push_back({when_s, number_++, std::move(what)});
    std::push_heap(events_.begin(), events_.end());
  }

  void send_piece(std::uint32_t from) {
    Port& port = ports_[from];
    port.busy = !port.turns.empty();
    if (!port.busy) return;
    const std::uint32_t to = port.turns.front();
    port.turns.pop_front();
    std::deque<Message>& messages = port.waiting[to];
    Message& message = messages.front();
    const double bytes = message.piece_bytes;
    Done done;
    if (--message.pieces_left == 0) {
      done = std::move(message.done);
      messages.pop_front();
    }
    if (!messages.empty()) port.turns.push_back(to);
    const double gone_s = now_s_ + bytes * port.link.beta_s_per_byte;
    at(gone_s, [this, from] { send_piece(from); });
    const double alpha_s = std::max(port.link.alpha_s, ports_[to].link.alpha_s);
    at(gone_s + alpha_s, [this, to, bytes, done = std::move(done)]() mutable {
      receive(to, bytes, std::move(done));
    });
  }

  void receive(std::uint32_t to, double bytes, Done done) {
    Port& port = ports_[to];
    const double takes_s = bytes * port.link.beta_s_per_byte;
    port.free_s = frame_bytes_ > 0 ? std::max(now_s_, port.free_s) + takes_s
                                   : std::max(now_s_, port.free_s + takes_s);
    if (done) at(port.free_s, std::move(done));
  }

  std::vector<Port> ports_;
  const double frame_bytes_;
  std::vector<Event> events_;  // a heap, whose next event can be moved out
  std::uint64_t number_ = 0;
  double now_s_ = 0;
};

// Runs the exchange in its constructor.
class Replay {
 public:
  Replay(wire::Collective kind, const ExchangeWork& work, const ExchangeNetwork& network)
      : kind_(kind),
        work_(work),
        n_(work.agents),
        network_(ports(work, network), network.frame_bytes) {
    for (std::uint32_t bucket = 0; bucket < work.buckets; ++bucket) {
      for (std::uint32_t member = 0; member < n_; ++member) begin({bucket, 0}, member);
    }
    seconds_ = network_.run();
  }

  double seconds() const { return seconds_; }
  bool whole() const { return finished_ == std::uint64_t{n_} * work_.buckets; }
  double bytes_sent_max() const {
    double most = 0;
    for (std::uint32_t member = 0; member < n_; ++member) {
      most = std::max(most, network_.sent(member));
    }
    return most;
  }
  double hub_bytes_sent() const { return network_.sent(n_); }

 private:
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // bucket and stage

  static std::vector<LinkEstimate> ports(const ExchangeWork& work, const ExchangeNetwork& network) {
    std::vector<LinkEstimate> all(work.agents, network.agents);
    all.push_back(network.hub);
    return all;
  }

  const StagePayload& stage(const Place& place) const { return work_.stages[place.second]; }
  TreeShape shape() const {
    switch (kind_) {
      case wire::Collective::ring:
        return TreeShape::chain;
      case wire::Collective::tree:
      case wire::Collective::halving_doubling:
        return TreeShape::binomial;
      default:
        return TreeShape::direct;
    }
  }
  std::uint32_t distance(std::uint32_t root, std::uint32_t member) const {
    return (member + n_ - root) % n_;
  }
  std::uint32_t owner(const Place& place) const {
    return kind_ == wire::Collective::tree ? 0 : place.first % n_;
  }

  void begin(const Place& place, std::uint32_t member) {
    const StageFlow flow = stage(place).flow;
    if (flow == StageFlow::from_root) {
      if (member == 0) from_root(place);
    } else if (kind_ == wire::Collective::star) {
      network_.send(member, n_, stage(place).up_bytes, [=, this] { arrived_at_hub(place); });
    } else if (flow == StageFlow::gathered || kind_ == wire::Collective::all_gather) {
      spread(place, member, member);
    } else {
      up(place, member);  // its own part is present
    }
  }

  void from_root(const Place& place) {
    if (kind_ != wire::Collective::star) {
      down(place, 0, 0, stage(place).up_bytes);
      return;
    }
    network_.send(0, n_, stage(place).up_bytes, [=, this] {
      for (std::uint32_t other = 1; other < n_; ++other) {
        network_.send(n_, other, stage(place).up_bytes, [=, this] { finish(place, other); });
      }
    });
    finish(place, 0);
  }

  void arrived_at_hub(const Place& place) {
    if (++count_[{place, n_}] < n_) return;
    for (std::uint32_t member = 0; member < n_; ++member) {
      network_.send(n_, member, stage(place).down_bytes, [=, this] { finish(place, member); });
    }
  }

  void up(const Place& place, std::uint32_t member) {
    const std::uint32_t root = owner(place);
    const std::uint32_t d = distance(root, member);
    if (++count_[{place, member}] <= children_up(shape(), n_, d)) return;
    if (d == 0) {
      down(place, root, member, stage(place).down_bytes);
      return;
    }
    std::uint32_t parent = 0;
    if (shape() == TreeShape::chain) parent = (d + 1) % n_;
    if (shape() == TreeShape::binomial) parent = d & (d - 1);
    const std::uint32_t to = (root + parent) % n_;
    network_.send(member, to, stage(place).up_bytes, [=, this] { up(place, to); });
  }

  // The children of a member, the one with the largest subtree first.
  std::vector<std::uint32_t> below(std::uint32_t root, std::uint32_t member) const {
    const std::uint32_t d = distance(root, member);
    std::vector<std::uint32_t> children;
    for (std::uint32_t i = children_down(shape(), n_, d); i-- > 0;) {
      const std::uint32_t step = shape() == TreeShape::binomial ? 1u << i : i + 1;
      children.push_back((root + d + step) % n_);
    }
    return children;
  }

  void down(const Place& place, std::uint32_t root, std::uint32_t member, double bytes) {
    for (const std::uint32_t child : below(root, member)) {
      network_.send(member, child, bytes, [=, this] { down(place, root, child, bytes); });
    }
    finish(place, member);
  }

  void spread(const Place& place, std::uint32_t origin, std::uint32_t member) {
    for (const std::uint32_t child : below(origin, member)) {
      network_.send(member, child, stage(place).up_bytes,
                    [=, this] { spread(place, origin, child); });
    }
    if (++count_[{place, member}] == n_) finish(place, member);
  }

  void finish(const Place& place, std::uint32_t member) {
    if (place.second + 1 < work_.stages.size()) {
      begin({place.first, place.second + 1}, member);
    } else {
      ++finished_;
    }
  }

  const wire::Collective kind_;
  const ExchangeWork work_;
  const std::uint32_t n_;
  ReplayNetwork network_;
  std::map<std::pair<Place, std::uint32_t>, std::uint32_t> count_;
  std::uint64_t finished_ = 0;
  double seconds_ = 0;
};

}  // namespace tributary
