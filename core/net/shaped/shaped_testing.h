// The inner transport of a shaped transport in tests: its clock advances while it waits, and it
// records sent messages and delivers those that the test adds. It acts as a hub or as a transport
// among peers.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/net/transport.h"
#include "core/net/zmq/link_testing.h"

namespace tributary::shaped_testing {

// The state that the test reads and changes.
struct Far {
  // A message that has left the shaped link.
  struct Got {
    std::chrono::nanoseconds at;
    ConnectionId connection;
    std::string frame;
    friend bool operator==(const Got&, const Got&) = default;
  };

  FixedMembers members = {};
  LinkLimits limits = {};
  ManualClock clock;
  std::deque<LinkEvent> pending_events;  // events that the inner transport will report
  std::vector<Got> got;
  bool full = false;          // send() returns resource_exhausted
  std::uint64_t arrived = 0;  // on connection 1
};

// The transport. It has connection 1 and fixed values for its statistics.
class Near final : public Transport {
 public:
  explicit Near(Far& far) : far_(far) {}

  Status send(ConnectionId to, SharedSlice frame, SharedSlice) override {
    if (far_.full) return Status(StatusCode::resource_exhausted, {.what = "full"});
    far_.got.push_back({far_.clock.now(), to, link_testing::text(frame)});
    return {};
  }
  Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds deadline) override {
    if (far_.pending_events.empty()) {
      if (deadline > far_.clock.now()) far_.clock.advance(deadline - far_.clock.now());
      return std::optional<LinkEvent>();
    }
    LinkEvent event = std::move(far_.pending_events.front());
    far_.pending_events.pop_front();
    return std::optional<LinkEvent>(std::move(event));
  }
  void wake() override {}
  bool encrypted() const override { return true; }
  const LinkLimits& limits() const override { return far_.limits; }
  LinkCounters counters() const override { return {.messages_in = 7}; }
  std::size_t waiting_bytes() const override { return 0; }
  FixedMembers members() const override { return far_.members; }
  std::uint64_t bytes_arrived(ConnectionId connection) const override {
    return connection == 1 ? far_.arrived : 0;
  }
  std::optional<double> round_trip_min_s(ConnectionId connection) const override {
    return connection == 1 ? std::optional<double>(0.001) : std::nullopt;
  }

 private:
  Far& far_;
};

}  // namespace tributary::shaped_testing
