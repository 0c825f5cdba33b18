// Real links on loopback, driven by one thread: the events of all transports are collected until
// the condition of the test holds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/net/zmq/hub.h"
#include "core/net/zmq/spoke.h"

namespace tributary::link_testing {

inline KeyPair new_keys() {
  Result<KeyPair> keys = make_key_pair();
  EXPECT_TRUE(keys.ok()) << keys.status().text();
  return *std::move(keys);
}

inline Bytes bytes(std::string_view text) {
  const ByteSpan span = bytes_of(text);
  return {span.begin(), span.end()};
}
inline std::string text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }
inline std::string text(const SharedSlice& bytes) {
  return {bytes.view().begin(), bytes.view().end()};
}
inline std::string text(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

// A transport and the events that it has reported.
struct Side {
  std::unique_ptr<Transport> link;
  std::vector<LinkEvent> events = {};

  template <typename Event>
  std::vector<const Event*> all() const {
    std::vector<const Event*> found;
    for (const LinkEvent& event : events) {
      if (const Event* one = std::get_if<Event>(&event)) found.push_back(one);
    }
    return found;
  }
  template <typename Event>
  std::size_t count() const {
    return all<Event>().size();
  }
  template <typename Event>
  const Event* last() const {
    const std::vector<const Event*> found = all<Event>();
    return found.empty() ? nullptr : found.back();
  }
  // The newest connection; 0 if none has been made.
  ConnectionId connection() const {
    const Connected* const made = last<Connected>();
    return made ? made->connection : 0;
  }
  bool connected() const {
    const auto is_news = [](const LinkEvent& event) {
      return std::holds_alternative<Connected>(event) ||
             std::holds_alternative<Disconnected>(event);
    };
    const auto found = std::find_if(events.rbegin(), events.rend(), is_news);
    return found != events.rend() && std::holds_alternative<Connected>(*found);
  }
  Status send(std::string_view frame, SharedSlice payload = {}) const {
    return link->send(connection(), bytes(frame), std::move(payload));
  }
  // Collects at most one event, which it waits for up to `time`.
  void collect(std::chrono::nanoseconds time) {
    const SystemClock clock;
    Result<std::optional<LinkEvent>> event = link->receive(clock.now() + time);
    ASSERT_TRUE(event.ok()) << event.status().text();
    if (event->has_value()) events.push_back(std::move(**event));
  }
};

// Collects events until the condition holds. Returns false if it does not hold within 60 s, which
// is enough for a slow machine.
inline bool pump(const std::vector<Side*>& sides, const std::function<bool()>& condition) {
  const SystemClock clock;
  const auto give_up_at = clock.now() + std::chrono::seconds(60);
  while (!condition()) {
    if (clock.now() > give_up_at) return false;
    for (Side* const side : sides) side->collect(std::chrono::milliseconds(1));
  }
  return true;
}

// A hub with its keys and its allow-list, which tests may change.
struct Federation {
  KeyPair hub_keys = new_keys();
  std::shared_ptr<AllowList> allowed = std::make_shared<AllowList>();
  LinkLimits limits = {};
  LinkTimes times = quick();
  std::string endpoint = "tcp://127.0.0.1:*";
  bool encrypted = true;

  static LinkTimes quick() {
    LinkTimes times;
    times.redial_min = std::chrono::milliseconds(5);
    times.redial_max = std::chrono::milliseconds(50);
    times.linger_max = std::chrono::milliseconds(200);
    return times;
  }

  Side hub() {
    Result<std::unique_ptr<Hub>> hub = open_hub({.endpoint = endpoint,
                                                 .keys = hub_keys,
                                                 .allowed = allowed,
                                                 .encrypted = encrypted,
                                                 .limits = limits,
                                                 .times = times});
    EXPECT_TRUE(hub.ok()) << hub.status().text();
    endpoint = (*hub)->endpoint();  // also used by a second hub after the first has ended
    return {.link = *std::move(hub)};
  }
  SpokeOptions spoke_options(const KeyPair& keys) const {
    return {.endpoint = endpoint,
            .keys = keys,
            .hub = hub_keys.public_key,
            .encrypted = encrypted,
            .limits = limits,
            .times = times};
  }
  static Side spoke(const SpokeOptions& options) {
    Result<std::unique_ptr<Spoke>> spoke = open_spoke(options);
    EXPECT_TRUE(spoke.ok()) << spoke.status().text();
    return {.link = *std::move(spoke)};
  }
  KeyPair allowed_keys(const std::string& id = "agent") {
    KeyPair keys = new_keys();
    allowed->allow(keys.public_key, id);
    return keys;
  }
  Side allowed_spoke(const std::string& id = "agent") {
    return spoke(spoke_options(allowed_keys(id)));
  }
};

}  // namespace tributary::link_testing
