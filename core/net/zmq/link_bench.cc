// Benchmark over loopback with both ends in this process: payloads of 1 MiB in one direction, and
// round trips of small frames, with and without CURVE.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "bench/harness/harness.h"
#include "core/net/zmq/hub.h"
#include "core/net/zmq/spoke.h"

namespace tributary {
namespace {

using bench::Case;

constexpr std::size_t kPayloadBytes = 1u << 20;
constexpr std::size_t kPayloads = 256;
constexpr std::size_t kTrips = 200;
constexpr std::size_t kFrameBytes = 64;
constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(20);

Status too_slow() {
  return Status(StatusCode::deadline_exceeded, {.what = "a message over loopback"});
}

// A connected hub and spoke.
class Pair {
 public:
  explicit Pair(bool encrypted) : status_(open(encrypted)) {}

  void send_payloads() {
    received_.clear();
    std::size_t sent = 0;
    while (received_.size() < kPayloads && status_.ok()) {
      while (sent < kPayloads && spoke_->send(to_hub_, frame_, payload_).ok()) ++sent;
      if (std::optional<Received> one = next(*hub_)) received_.push_back(std::move(one->payload));
    }
  }
  Status check_payloads() {
    for (const SharedSlice& each : received_) {
      if (std::ranges::equal(each.view(), payload_.view())) continue;
      return Status(StatusCode::corrupt_data, {.what = "a payload that arrived"});
    }
    return received_.size() == kPayloads ? status_ : too_slow();
  }

  void round_trips() {
    trips_ = 0;
    for (std::size_t i = 0; i < kTrips && status_.ok(); ++i) {
      note(spoke_->send(to_hub_, frame_, {}));
      std::optional<Received> received = next(*hub_);
      if (!received) return;
      note(hub_->send(to_spoke_, std::move(received->frame), {}));
      const std::optional<Received> back = next(*spoke_);
      if (back && std::ranges::equal(back->frame, frame_.view())) ++trips_;
    }
  }
  Status check_trips() const { return trips_ == kTrips ? status_ : too_slow(); }

 private:
  Status open(bool encrypted) {
    TRIBUTARY_ASSIGN(const KeyPair hub_keys, make_key_pair());
    TRIBUTARY_ASSIGN(const KeyPair spoke_keys, make_key_pair());
    const auto allowed = std::make_shared<AllowList>();
    allowed->allow(spoke_keys.public_key, "bench");
    TRIBUTARY_ASSIGN(std::unique_ptr<Hub> hub, open_hub({.endpoint = "tcp://127.0.0.1:*",
                                                         .keys = hub_keys,
                                                         .allowed = allowed,
                                                         .encrypted = encrypted}));
    TRIBUTARY_ASSIGN(spoke_, open_spoke({.endpoint = hub->endpoint(),
                                         .keys = spoke_keys,
                                         .hub = hub_keys.public_key,
                                         .encrypted = encrypted}));
    hub_ = std::move(hub);
    TRIBUTARY_ASSIGN(to_hub_, connection_of(*spoke_));
    TRIBUTARY_ASSIGN(to_spoke_, connection_of(*hub_));
    return {};
  }
  Result<ConnectionId> connection_of(Transport& link) const {
    TRIBUTARY_ASSIGN(const std::optional<LinkEvent> event, link.receive(clock_.now() + kPatience));
    const Connected* const made = event ? std::get_if<Connected>(&*event) : nullptr;
    if (made == nullptr) return too_slow();
    return made->connection;
  }
  std::optional<Received> next(Transport& link) {
    Result<std::optional<LinkEvent>> event = link.receive(clock_.now() + kPatience);
    note(event.status());
    Received* const received =
        event.ok() && event->has_value() ? std::get_if<Received>(&**event) : nullptr;
    if (received != nullptr) return std::move(*received);
    note(too_slow());
    return std::nullopt;
  }
  void note(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  static Bytes pattern(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
    return bytes;
  }

  const SystemClock clock_;
  const SharedSlice frame_ = pattern(kFrameBytes);
  const SharedSlice payload_ = pattern(kPayloadBytes);
  std::unique_ptr<Transport> hub_;
  std::unique_ptr<Transport> spoke_;
  ConnectionId to_hub_ = 0;
  ConnectionId to_spoke_ = 0;
  std::vector<SharedSlice> received_;
  std::size_t trips_ = 0;
  Status status_;
};

std::vector<Case> link_cases(const bench::Settings&) {
  std::vector<Case> cases;
  for (const bool encrypted : {false, true}) {
    const std::string suffix = encrypted ? ", CURVE" : ", open";
    const auto pair = std::make_shared<Pair>(encrypted);
    cases.push_back({.name = "payloads of 1 MiB" + suffix,
                     .bytes = double{kPayloadBytes * kPayloads},
                     .run = [pair] { pair->send_payloads(); },
                     .check = [pair] { return pair->check_payloads(); }});
    cases.push_back({.name = "round trips of 64 bytes" + suffix,
                     .bytes = double{kTrips},
                     .run = [pair] { pair->round_trips(); },
                     .check = [pair] { return pair->check_trips(); },
                     .unit = {.name = "thousand trips/s", .size = 1e3}});
  }
  for (const std::size_t i : {2u, 3u}) cases[i].goals = {{.peer = cases[i - 2].name}};
  return cases;
}

const bench::Registration kLink({.name = "link",
                                 .about = "a hub and a spoke over loopback, one I/O thread each",
                                 .build = link_cases});

}  // namespace
}  // namespace tributary
