// Fuzz target: for any messages in any order, a message is passed on only under the key that sent
// it and on a connection that was reported, every connection begins and ends once, and memory stays
// bounded.
//
// The input is a list of steps. Each is a byte that selects the action and bytes with its
// arguments.
#include <cstdlib>
#include <map>
#include <set>

#include "core/net/access/hub_intake.h"

namespace tributary {
namespace {

constexpr std::size_t kKeys = 3;
constexpr std::uint32_t kConnectionsPerKeyMax = 2;
constexpr LinkLimits kLimits = {.frame_bytes_max = 16, .payload_bytes_max = 32};

void require(bool condition) {
  if (!condition) std::abort();
}

PublicKey key_of(std::size_t number) {
  PublicKey key;
  key.bytes.fill(static_cast<std::uint8_t>(number % kKeys + 1));
  return key;
}

class Steps {
 public:
  explicit Steps(ByteSpan input) : input_(input) {}
  bool more() const { return !input_.empty(); }
  std::uint8_t next() {
    if (input_.empty()) return 0;
    const std::uint8_t byte = input_[0];
    input_ = input_.subspan(1);
    return byte;
  }
  ByteSpan take(std::size_t count) {
    const ByteSpan bytes = input_.first(std::min(count, input_.size()));
    input_ = input_.subspan(bytes.size());
    return bytes;
  }

 private:
  ByteSpan input_;
};

class Driver {
 public:
  Driver(ByteSpan input, bool encrypted)
      : steps_(input),
        encrypted_(encrypted),
        intake_({.encrypted = encrypted,
                 .limits = kLimits,
                 .connections_per_key_max = kConnectionsPerKeyMax,
                 .patience_messages = 3},
                allowed_) {
    for (std::size_t i = 0; i < kKeys; ++i) allowed_->allow(key_of(i), "agent");
  }

  void run() {
    while (steps_.more()) {
      step();
      listen();
      require(intake_.connections() == live_.size());
    }
    intake_.nothing_left();
    listen();
  }

 private:
  void step() {
    const std::uint8_t what = steps_.next();
    const std::uint8_t choice = steps_.next();
    switch (what % 8) {
      case 0:
        return intake_.accepted(choice % 8);
      case 1:
        return intake_.closed(choice % 8);
      case 2:
        return intake_.nothing_left();
      case 3:
        return intake_.lost(choice);
      case 4:
        return allowed_->revoke(key_of(choice));
      case 5:
        return allowed_->allow(key_of(choice), "agent");
      case 6:
        return look_up(choice);
      default:
        return message(choice);
    }
  }

  void look_up(ConnectionId connection) {
    const auto live = live_.find(connection);
    require(live != live_.end() || intake_.descriptor_of(connection) < 0);
    const bool there = live != live_.end() && allowed_->allows(live->second);
    require(intake_.route_of(connection).empty() != there);
  }

  void message(std::uint8_t choice) {
    const PublicKey key = key_of(choice);
    const std::string text =
        choice >= 0xf0 ? std::string(1, static_cast<char>(choice)) : key_text(key);
    const std::string claim = claimed_route(key);
    const ByteSpan chosen = steps_.take(steps_.next() % 40);
    Bytes route(chosen.begin(), chosen.end());
    if (choice < 0xe0 && encrypted_) route = {0, 0, 0, 0, static_cast<std::uint8_t>(choice % 16)};
    if (choice < 0xe0 && !encrypted_)
      route.assign(bytes_of(std::string_view(claim)).begin(),
                   bytes_of(std::string_view(claim)).end());
    std::vector<ByteSpan> parts;
    for (std::size_t left = steps_.next() % 5; left > 0; --left) {
      parts.push_back(steps_.take(steps_.next() % 48));
    }
    const HubIntake::Taken taken = intake_.take(
        {.user_id = text, .descriptor = choice % 9 - 1, .route = route, .parts = parts},
        [&] { intake_.accepted(steps_.next() % 8); });
    if (taken.connection == 0) return;
    listen();
    const auto live = live_.find(taken.connection);
    require(live != live_.end() || ended_.contains(taken.connection));
    require(live == live_.end() || live->second == taken.peer);
    require(allowed_->allows(taken.peer) && (taken.peer == key || !encrypted_));
    require(parts.size() == (taken.parts.payload.empty() ? 1u : 2u));
    require(!taken.parts.frame.empty() && taken.parts.frame.size() <= kLimits.frame_bytes_max);
    require(taken.parts.payload.size() <= kLimits.payload_bytes_max);
  }

  void listen() {
    while (intake_.has_event()) {
      const LinkEvent event = intake_.next_event();
      if (const auto* made = std::get_if<Connected>(&event)) {
        require(made->connection > newest_);
        newest_ = made->connection;
        live_[made->connection] = made->peer;
        std::size_t of_key = 0;
        for (const auto& [connection, peer] : live_) of_key += peer == made->peer ? 1 : 0;
        require(of_key <= kConnectionsPerKeyMax);
      } else if (const auto* gone = std::get_if<Disconnected>(&event)) {
        require(live_.erase(gone->connection) == 1);
        ended_.insert(gone->connection);
      }
    }
  }

  Steps steps_;
  const bool encrypted_;
  const std::shared_ptr<AllowList> allowed_ = std::make_shared<AllowList>();
  HubIntake intake_;
  std::map<ConnectionId, PublicKey> live_;
  std::set<ConnectionId> ended_;
  ConnectionId newest_ = 0;
};

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const tributary::ByteSpan input(data, size);
  tributary::Driver(input.subspan(1), input[0] % 2 == 0).run();
  return 0;
}
