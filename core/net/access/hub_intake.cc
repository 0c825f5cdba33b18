#include "core/net/access/hub_intake.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

// Size of a route that ROUTER assigns: a zero byte and a 32-bit counter.
constexpr std::size_t kGivenRouteBytes = 5;
// Bound on waiting events. A flood of failed handshakes is always counted, but reported only up to
// it.
constexpr std::size_t kWaitingRefusalsMax = 64;

Status gone(std::string got, std::string remedy = {}) {
  return Status(StatusCode::unavailable, {.what = "the connection",
                                          .expected = "an open connection",
                                          .got = std::move(got),
                                          .remedy = std::move(remedy)});
}

}  // namespace

std::variant<MessageParts, RefusalReason> read_parts(std::span<const ByteSpan> parts,
                                                     const LinkLimits& limits) {
  if (parts.size() == 1 && parts[0].empty()) return MessageParts{.greeting = true};
  if (parts.empty() || parts.size() > 2) return RefusalReason::bad_parts;
  if (std::ranges::any_of(parts, &ByteSpan::empty)) return RefusalReason::bad_parts;
  if (parts[0].size() > limits.frame_bytes_max) return RefusalReason::frame_too_large;
  if (parts.size() == 1) return MessageParts{.frame = parts[0]};
  if (parts[1].size() > limits.payload_bytes_max) return RefusalReason::payload_too_large;
  return MessageParts{.frame = parts[0], .payload = parts[1]};
}

std::string claimed_route(const PublicKey& key) {
  std::string route(1, kClaimedKeyMark);
  route.append(key.bytes.begin(), key.bytes.end());
  return route;
}

HubIntake::HubIntake(const Options& options, std::shared_ptr<const AllowList> allowed)
    : options_(options), allowed_(std::move(allowed)) {}

// The checks are ordered by trust: the sender's key, its route, the allow-list, and then the
// content.
HubIntake::Taken HubIntake::take(const ArrivedMessage& message,
                                 const std::function<void()>& learn_of_connections) {
  end_those_before(++messages_);
  // Connection events must be up to date before the descriptor can be attributed to a connection.
  const auto refuse = [&](RefusalReason reason, std::string source) {
    learn_of_connections();
    if (const auto open = open_descriptors_.find(message.descriptor);
        open != open_descriptors_.end()) {
      open->second = true;
    }
    refused(reason, std::move(source));
    return Taken{};
  };
  PublicKey key;
  if (!identify(message, key)) {
    return refuse(RefusalReason::not_identified, {});
  }
  const bool given = message.route.size() == kGivenRouteBytes && message.route[0] == 0;
  if (options_.encrypted && !given) {
    return refuse(RefusalReason::claimed_route, key_text(key));
  }
  if (allowed_ && !allowed_->allows(key)) {
    refuse(RefusalReason::revoked, key_text(key));
    if (const auto known = by_route_.find(std::string(as_text(message.route)));
        known != by_route_.end() && connections_.at(known->second).peer == key) {
      end(known->second, gone("the key was revoked"));
    }
    return {};
  }
  const auto read = read_parts(message.parts, options_.limits);
  if (const RefusalReason* const reason = std::get_if<RefusalReason>(&read)) {
    return refuse(*reason, key_text(key));
  }
  const MessageParts& parts = std::get<MessageParts>(read);
  const ConnectionId connection = connection_of(message, key, parts.greeting, learn_of_connections);
  if (parts.greeting) return {};
  return {.connection = connection, .peer = key, .parts = parts};
}

// The sender's key: proven by CURVE and attached by libzmq, or claimed by the route of an
// unencrypted link.
bool HubIntake::identify(const ArrivedMessage& message, PublicKey& key) const {
  if (options_.encrypted) {
    const Result<PublicKey> parsed = parse_public_key(message.user_id);
    if (parsed.ok()) key = *parsed;
    return parsed.ok();
  }
  if (message.route.size() != kKeyBytes + 1 || message.route[0] != kClaimedKeyMark) return false;
  std::ranges::copy(message.route.subspan(1), key.bytes.begin());
  return true;
}

// Finds the connection of a message, or opens one. A route that now belongs to another connection
// ends the old one.
//
// A greeting is the first message of a connection. On an unencrypted link, a peer that connects
// again has the same route, and the system may give it the descriptor that has just been closed.
// Therefore a greeting is attributed to a known connection only if its descriptor is still open.
ConnectionId HubIntake::connection_of(const ArrivedMessage& message, const PublicKey& key,
                                      bool greeting,
                                      const std::function<void()>& learn_of_connections) {
  const auto known_as = [&]() -> ConnectionId {
    const auto known = by_route_.find(std::string(as_text(message.route)));
    if (known == by_route_.end()) return 0;
    const Connection& connection = connections_.at(known->second);
    // With another key or descriptor, libzmq has assigned the route to another connection since.
    const bool same = connection.peer == key && connection.descriptor == message.descriptor;
    return same ? known->second : 0;
  };
  if (greeting) learn_of_connections();
  if (const ConnectionId known = known_as();
      known != 0 && !(greeting && descriptor_of(known) != message.descriptor)) {
    return known;
  }
  if (!greeting) learn_of_connections();
  if (const auto stale = by_route_.find(std::string(as_text(message.route)));
      stale != by_route_.end()) {
    end(stale->second, gone("replaced by a newer connection"));
  }
  return open(message, key);
}

// Opens a connection. If its key has too many connections, the oldest one ends: it is probably a
// connection whose end was not noticed.
ConnectionId HubIntake::open(const ArrivedMessage& message, const PublicKey& key) {
  std::deque<ConnectionId>& of_key = by_key_[key];
  if (of_key.size() >= options_.connections_per_key_max) {
    end(of_key.front(), gone("too many connections with the same key",
                             "give every agent its own key, and run it only once"));
  }
  const ConnectionId connection = ++last_;
  connections_[connection] = {
      .peer = key, .route = std::string(as_text(message.route)), .descriptor = message.descriptor};
  by_route_[std::string(as_text(message.route))] = connection;
  by_key_[key].push_back(connection);  // of_key may be dangling: end() may have erased its entry
  events_.emplace_back(Connected{.connection = connection, .peer = key});
  if (message.descriptor < 0) return connection;
  // The system has reused the descriptor, so the older connection has ended.
  if (const auto older = by_descriptor_.find(message.descriptor); older != by_descriptor_.end()) {
    const ConnectionId replaced = older->second;
    by_descriptor_.erase(older);
    begin_to_end(replaced);
  }
  if (const auto open = open_descriptors_.find(message.descriptor);
      open != open_descriptors_.end()) {
    open->second = true;
    by_descriptor_[message.descriptor] = connection;
    return connection;
  }
  // The descriptor is already closed. The connection was a short one and ends after its last
  // messages.
  const auto silent = std::ranges::find(silent_, message.descriptor, &Silent::descriptor);
  if (silent != silent_.end()) silent_.erase(silent);
  begin_to_end(connection);
  return connection;
}

void HubIntake::accepted(int descriptor) { open_descriptors_[descriptor] = false; }

// A connection without messages is kept in silent_ for a while, because its first message may still
// be queued.
void HubIntake::closed(int descriptor) {
  const auto open = open_descriptors_.find(descriptor);
  if (open == open_descriptors_.end()) return;
  const bool spoke = open->second;
  open_descriptors_.erase(open);
  if (!spoke) silent_.push_back({descriptor, messages_ + options_.patience_messages});
  const auto bound = by_descriptor_.find(descriptor);
  if (bound == by_descriptor_.end()) return;
  const ConnectionId connection = bound->second;
  by_descriptor_.erase(bound);
  begin_to_end(connection);
}

// The end is reported after the messages that may still be queued.
void HubIntake::begin_to_end(ConnectionId connection) {
  ending_.push_back({connection, messages_ + options_.patience_messages});
}

void HubIntake::nothing_left() { end_those_before(messages_ + options_.patience_messages + 1); }

void HubIntake::end_those_before(std::uint64_t message) {
  while (!ending_.empty() && ending_.front().until_message < message) {
    const ConnectionId connection = ending_.front().connection;
    ending_.pop_front();
    end(connection, gone("one that the other side closed"));
  }
  while (!silent_.empty() && silent_.front().until_message < message) {
    silent_.pop_front();
    if (turned_away_ > 0) {
      --turned_away_;
    } else {
      refused(RefusalReason::failed_handshake, {});
    }
  }
}

// Removes a connection from all indexes and queues its Disconnected.
void HubIntake::end(ConnectionId connection, Status why) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  const Connection ended = std::move(found->second);
  connections_.erase(found);
  by_route_.erase(ended.route);
  if (const auto bound = by_descriptor_.find(ended.descriptor);
      bound != by_descriptor_.end() && bound->second == connection) {
    by_descriptor_.erase(bound);
  }
  const auto of_key = by_key_.find(ended.peer);
  std::erase(of_key->second, connection);
  if (of_key->second.empty()) by_key_.erase(of_key);
  events_.emplace_back(
      Disconnected{.connection = connection, .peer = ended.peer, .why = std::move(why)});
}

void HubIntake::refused(RefusalReason reason, std::string source) {
  ++refusals_[static_cast<std::size_t>(reason)];
  report({.reason = reason, .source = std::move(source)});
}

void HubIntake::report(Refused refusal) {
  if (events_.size() < kWaitingRefusalsMax) events_.emplace_back(std::move(refusal));
}

void HubIntake::lost(ConnectionId connection) { end(connection, gone("the peer is gone")); }

std::string_view HubIntake::route_of(ConnectionId connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return {};
  if (allowed_ && !allowed_->allows(found->second.peer)) {
    end(connection, gone("the key was revoked"));
    return {};
  }
  return found->second.route;
}

int HubIntake::descriptor_of(ConnectionId connection) const {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return -1;
  const auto bound = by_descriptor_.find(found->second.descriptor);
  return bound != by_descriptor_.end() && bound->second == connection ? bound->first : -1;
}

LinkEvent HubIntake::next_event() {
  LinkEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace tributary
