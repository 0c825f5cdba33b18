#include "core/net/zmq/hub.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <unordered_map>
#include <vector>

#include "core/net/access/hub_intake.h"
#include "core/net/tcp_statistics.h"
#include "core/net/zmq/link_wait.h"
#include "core/net/zmq/outbox.h"
#include "core/net/zmq/socket_settings.h"
#include "core/net/zmq/zmq_socket.h"

namespace tributary {
namespace {

// Name of the hub's ZAP domain at the gate.
constexpr const char* kAgentsDomain = "agents";
// Connections that wait to be accepted: after a restart of the coordinator all agents connect at
// once.
constexpr int kHubBacklog = 1024;
// Events of handshakes that fail for other reasons are not watched. They name no connection, and
// libzmq has no event for a peer that does not use ZMTP at all.
constexpr int kHubEvents =
    ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
// Route, frame and payload.
constexpr std::size_t kHubPartsMax = 3;
// While messages arrive without a pause, connection events are read once per this many messages.
constexpr std::uint32_t kHubMessagesBetweenLooks = 64;

class ZmqHub final : public Hub {
 public:
  ZmqHub(const HubOptions& options, std::shared_ptr<LinkContext> context, LinkWait wait)
      : options_(options),
        context_(std::move(context)),
        intake_({.encrypted = options.encrypted, .limits = options.limits}, options.allowed),
        wait_(std::move(wait)) {}
  ~ZmqHub() override {
    if (guarding_) context_->gate().leave(kAgentsDomain);
  }

  Status start() {
    TRIBUTARY_ASSIGN(router_, ZmqSocket::open(context_->handle(), ZMQ_ROUTER));
    TRIBUTARY_TRY(configure(router_, options_.limits, options_.times));
    // With this option, a send to a route that does not exist returns EHOSTUNREACH instead of
    // dropping the message silently.
    TRIBUTARY_TRY(router_.set(ZMQ_ROUTER_MANDATORY, 1));
    TRIBUTARY_TRY(router_.set(ZMQ_BACKLOG, kHubBacklog));
    // Unencrypted peers choose their routes, and a new connection of a peer must be able to take
    // over its route.
    TRIBUTARY_TRY(options_.encrypted ? guard() : router_.set(ZMQ_ROUTER_HANDOVER, 1));
    TRIBUTARY_ASSIGN(monitor_, Monitor::of(context_->handle(), router_, kHubEvents));
    TRIBUTARY_TRY(wait_.watch(LinkWait::Source::messages, router_.file()));
    TRIBUTARY_TRY(wait_.watch(LinkWait::Source::connections, monitor_.file()));
    if (zmq_bind(router_.get(), options_.endpoint.c_str()) != 0) {
      return Status(StatusCode::io_error,
                    {.what = fmt::format("listening at {}", options_.endpoint),
                     .expected = "an address of this machine and a free port",
                     .got = zmq_strerror(zmq_errno()),
                     .remedy = "choose another port, or stop the program that uses it"});
    }
    TRIBUTARY_ASSIGN(endpoint_, router_.last_endpoint());
    return {};
  }

  std::string endpoint() const override { return endpoint_; }
  bool encrypted() const override { return options_.encrypted; }
  const LinkLimits& limits() const override { return options_.limits; }
  void wake() override { wait_.wake(); }
  std::uint64_t bytes_arrived(ConnectionId connection) const override {
    return tcp_bytes_received(intake_.descriptor_of(connection));
  }
  Status send(ConnectionId to, SharedSlice frame, SharedSlice payload) override;
  Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds deadline) override;
  LinkCounters counters() const override;
  std::size_t waiting_bytes() const override {
    std::size_t bytes = 0;
    for (const auto& [connection, outbox] : outboxes_) bytes += outbox.waiting_bytes();
    return bytes;
  }

 private:
  Status guard();
  Status look_at_connections();
  Result<bool> take_message();
  Result<bool> wait(std::chrono::nanoseconds deadline);
  LinkEvent next_event();

  const HubOptions options_;
  const std::shared_ptr<LinkContext> context_;
  HubIntake intake_;
  LinkWait wait_;
  bool guarding_ = false;
  ZmqSocket router_;
  Monitor monitor_;
  std::string endpoint_;
  std::unordered_map<ConnectionId, Outbox> outboxes_;
  std::optional<LinkEvent> message_;  // reported after the intake's events
  std::vector<ZmqMessage> parts_;
  std::uint32_t until_look_ = 0;  // messages until connection events are read again
  LinkCounters counters_;
};

// Only routing ids that ROUTER assigns are accepted, because a peer could choose the routing id of
// another peer. The intake drops the others, and ZMQ_ROUTER_HANDOVER stays off, so that no peer can
// take over a route.
Status ZmqHub::guard() {
  if (!options_.allowed) {
    return Status(StatusCode::invalid_argument,
                  {.what = "hub",
                   .expected = "an allow-list",
                   .got = "none",
                   .remedy = "pass an allow-list, which may be empty"});
  }
  TRIBUTARY_TRY(context_->gate().guard(kAgentsDomain, options_.allowed));
  guarding_ = true;
  return serve_with_curve(router_, options_.keys, kAgentsDomain);
}

// A failed send can be the first sign that a connection has ended, so it also ends the connection
// here.
Status ZmqHub::send(ConnectionId to, SharedSlice frame, SharedSlice payload) {
  const std::string_view route = intake_.route_of(to);
  const std::size_t bytes = frame.size() + payload.size();
  const std::size_t on_the_wire = wire_bytes(frame.size(), payload.size(), options_.encrypted);
  Status status = no_connection();
  if (!route.empty()) {
    Outbox& outbox = outboxes_.try_emplace(to, options_.limits).first->second;
    status = outbox.send(router_, bytes_of(route), std::move(frame), std::move(payload));
    wait_.set_unread(LinkWait::Source::messages);
    if (status.code() == StatusCode::unavailable) intake_.lost(to);
  }
  if (!status.ok()) {
    ++counters_.sends_refused;
    return status;
  }
  ++counters_.messages_out;
  counters_.bytes_out += bytes;
  counters_.wire_bytes_out += on_the_wire;
  return {};
}

// Order of the steps: waiting events, the waiting message, then a new message. Events that were
// queued before a message are always returned before it.
Result<std::optional<LinkEvent>> ZmqHub::receive(std::chrono::nanoseconds deadline) {
  while (true) {
    if (intake_.has_event()) return std::optional<LinkEvent>(next_event());
    if (message_) return std::exchange(message_, std::nullopt);
    if (until_look_ == 0 || wait_.unread(LinkWait::Source::connections)) {
      TRIBUTARY_TRY(look_at_connections());
    }
    bool took = false;
    if (wait_.unread(LinkWait::Source::messages)) {
      --until_look_;
      TRIBUTARY_ASSIGN(took, take_message());
    }
    if (took && until_look_ > 0) continue;
    // Messages that produce no event must not keep the caller beyond its deadline.
    if (took && !message_ && context_->clock().now() >= deadline) return std::optional<LinkEvent>();
    if (took || intake_.has_event()) continue;
    TRIBUTARY_ASSIGN(const bool go_on, wait(deadline));
    if (!go_on) return std::optional<LinkEvent>();
  }
}

// Returns false if no message is there. All messages of connections that ended before have been
// read then.
Result<bool> ZmqHub::take_message() {
  TRIBUTARY_ASSIGN(const bool has_message, router_.receive(parts_, kHubPartsMax));
  if (!has_message) {
    wait_.set_read(LinkWait::Source::messages);
    intake_.nothing_left();
    return false;
  }
  std::array<ByteSpan, kHubPartsMax + 1> spans;
  for (std::size_t i = 0; i < parts_.size(); ++i) spans[i] = parts_[i].bytes();
  // libzmq 4.3.4 sometimes loses the properties of the first part, but not those of later parts.
  ZmqMessage& last = parts_.back();
  const char* const user_id = last.property("User-Id");
  Status status;
  const HubIntake::Taken taken =
      intake_.take({.user_id = user_id ? user_id : "",
                    .descriptor = zmq_msg_get(last.get(), ZMQ_SRCFD),
                    .route = spans[0],
                    .parts = std::span(spans).subspan(1, parts_.size() - 1)},
                   [&] { status = look_at_connections(); });
  TRIBUTARY_TRY(std::move(status));
  if (taken.connection == 0) return true;
  Received received{.connection = taken.connection,
                    .peer = taken.peer,
                    .frame = Bytes(taken.parts.frame.begin(), taken.parts.frame.end()),
                    .payload = {}};
  ++counters_.messages_in;
  counters_.bytes_in += taken.parts.frame.size() + taken.parts.payload.size();
  counters_.wire_bytes_in +=
      wire_bytes(taken.parts.frame.size(), taken.parts.payload.size(), options_.encrypted);
  if (!taken.parts.payload.empty()) received.payload = shared_from(std::move(parts_[2]));
  message_ = std::move(received);
  return true;
}

// Passes all waiting connection events to the intake, and the gate's refusals to the caller. The
// end of a connection is reported when no message is left, so these are read next.
Status ZmqHub::look_at_connections() {
  until_look_ = kHubMessagesBetweenLooks;
  wait_.set_unread(LinkWait::Source::messages);
  while (true) {
    TRIBUTARY_ASSIGN(const std::optional<MonitorEvent> event, monitor_.next());
    if (!event) break;
    if (event->event == ZMQ_EVENT_ACCEPTED) {
      intake_.accepted(event->value);
    } else if (event->event == ZMQ_EVENT_DISCONNECTED) {
      intake_.closed(event->value);
    } else if (event->event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
      intake_.turned_away();
    }
  }
  wait_.set_read(LinkWait::Source::connections);
  if (guarding_) {
    for (Refused& each : context_->gate().take_refusals(kAgentsDomain))
      intake_.report(std::move(each));
  }
  return {};
}

// Returns false if the deadline has passed or wake() was called.
Result<bool> ZmqHub::wait(std::chrono::nanoseconds deadline) {
  TRIBUTARY_ASSIGN(const bool news, wait_.wait(deadline - context_->clock().now()));
  if (wait_.take_wake()) return false;
  return news || context_->clock().now() < deadline;
}

// A connection's outbox exists until its end was reported.
LinkEvent ZmqHub::next_event() {
  LinkEvent event = intake_.next_event();
  if (const auto* ended = std::get_if<Disconnected>(&event)) outboxes_.erase(ended->connection);
  return event;
}

// The gate counts refused handshakes, because they never become connections.
LinkCounters ZmqHub::counters() const {
  LinkCounters counters = counters_;
  counters.connections = intake_.connections_ever();
  counters.refused = intake_.refusals();
  if (guarding_) {
    for (const RefusalReason reason :
         {RefusalReason::unknown_key, RefusalReason::too_many_knocks}) {
      counters.refused[static_cast<std::size_t>(reason)] +=
          context_->gate().refused_for(kAgentsDomain, reason);
    }
  }
  return counters;
}

}  // namespace

Result<std::unique_ptr<Hub>> open_hub(const HubOptions& options) {
  std::shared_ptr<LinkContext> context = options.context;
  if (!context) {
    TRIBUTARY_ASSIGN(context, LinkContext::open({}));
  }
  TRIBUTARY_ASSIGN(LinkWait wait, LinkWait::open());
  auto hub = std::make_unique<ZmqHub>(options, std::move(context), std::move(wait));
  TRIBUTARY_TRY(hub->start());
  return std::unique_ptr<Hub>(std::move(hub));
}

}  // namespace tributary
