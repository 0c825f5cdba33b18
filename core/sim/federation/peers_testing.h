// Connections between the agents of a test: in order, and gone for good once they break.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/session/conversation.h"

namespace tributary::round_testing {

class PeerNetwork {
 public:
  struct Rim {
    std::function<TimeNs()> now;
    std::function<void(TimeNs at, std::function<void()>)> push;
    std::function<void(std::uint32_t agent, const Event&)> act;
    std::function<double()> draw;
  };
  explicit PeerNetwork(Rim rim) : rim_(std::move(rim)) {}

  static std::string endpoint(std::uint32_t agent) { return "peer-" + std::to_string(agent); }

  TimeNs delay_ns = kNsPerMs;
  double breaks = 0;  // how likely a connection breaks at a message
  // Sees, and may change, what goes over.
  std::function<void(std::uint32_t from, std::uint32_t to, Bytes& frame, Bytes& payload)> twist;
  std::uint64_t messages = 0;

  void open(std::uint32_t agent, const OpenPeers& open) {
    Ends& ends = ends_[agent];
    if (ends.session != 0) gone(agent);
    ends = {.session = open.session, .member = open.member, .agents = {}};
    for (const OpenPeers::Member& member : open.members) {
      ends.agents.push_back(static_cast<std::uint32_t>(std::stoul(member.endpoint.substr(5))));
    }
    rim_.push(rim_.now() + 1, [this, agent] { deliver_held(agent); });
  }
  // Its process is gone, or it has hung up.
  void gone(std::uint32_t agent) {
    const Ends ends = std::exchange(ends_[agent], {});
    for (const std::uint32_t other : ends.agents) {
      if (other != agent && ends_[other].session == ends.session) lose(other, ends.member);
    }
  }

  void send(std::uint32_t from, SendToPeer& send) {
    const Ends& ends = ends_[from];
    if (send.member >= ends.agents.size()) return;
    ++messages;
    const std::uint32_t to = ends.agents[send.member];
    auto frame = std::make_shared<Bytes>(std::move(send.frame));
    const ByteSpan bytes = send.payload.view();
    auto payload = std::make_shared<Bytes>(bytes.begin(), bytes.end());
    if (twist) twist(from, to, *frame, *payload);
    TimeNs& last = arrives_[{from, to}];
    const auto delay = static_cast<TimeNs>(static_cast<double>(delay_ns) * (0.5 + rim_.draw()));
    last = std::max(last, rim_.now() + delay);
    if (rim_.draw() < breaks) cut(from, to);
    const Message message{.from = from,
                          .to = to,
                          .session = ends.session,
                          .member = ends.member,
                          .frame = std::move(frame),
                          .payload = std::move(payload)};
    rim_.push(last, [this, message] { arrive(message); });
  }

  // The connection between two of them ends, and both are told.
  void cut(std::uint32_t one, std::uint32_t other) {
    const std::uint64_t session = ends_[one].session;
    const auto [low, high] = std::minmax(one, other);
    if (session == 0 || ends_[other].session != session) return;
    if (!cut_.insert({session, low, high}).second) return;
    lose(one, ends_[other].member);
    lose(other, ends_[one].member);
  }

 private:
  struct Ends {
    std::uint64_t session = 0;
    std::uint32_t member = 0;
    std::vector<std::uint32_t> agents;  // by member
  };
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t session = 0;
    std::uint32_t member = 0;
    std::shared_ptr<Bytes> frame;
    std::shared_ptr<Bytes> payload;
  };

  void lose(std::uint32_t agent, std::uint32_t member) {
    rim_.push(rim_.now() + delay_ns, [this, agent, member, session = ends_[agent].session] {
      rim_.act(agent, PeerLost{.session = session,
                               .member = member,
                               .why = Status(StatusCode::unavailable, {.what = "connection"})});
    });
  }

  // What goes to somebody who is not there yet waits, in order.
  void arrive(const Message& message) {
    std::deque<Message>& held = held_[{message.from, message.to}];
    if (held.empty() && ends_[message.to].session == message.session) return deliver(message);
    held.push_back(message);
  }
  void deliver(const Message& message) {
    const auto [low, high] = std::minmax(message.from, message.to);
    if (cut_.contains({message.session, low, high}) ||
        ends_[message.from].session != message.session ||
        ends_[message.to].session != message.session) {
      return;
    }
    rim_.act(message.to, PeerFrameReceived{.session = message.session,
                                           .from = message.member,
                                           .frame = *message.frame,
                                           .payload = SharedSlice(*message.payload)});
  }
  void deliver_held(std::uint32_t to) {
    for (auto& [way, held] : held_) {
      if (way.second != to) continue;
      for (const Message& message : std::exchange(held, {})) deliver(message);
    }
  }

  Rim rim_;
  std::map<std::uint32_t, Ends> ends_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, TimeNs> arrives_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Message>> held_;
  std::set<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> cut_;
};

}  // namespace tributary::round_testing
