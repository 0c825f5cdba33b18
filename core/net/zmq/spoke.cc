#include "core/net/zmq/spoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/net/access/hub_intake.h"
#include "core/net/backoff.h"
#include "core/net/tcp_statistics.h"
#include "core/net/zmq/link_wait.h"
#include "core/net/zmq/outbox.h"
#include "core/net/zmq/socket_settings.h"
#include "core/net/zmq/zmq_socket.h"

namespace tributary {
namespace {

// Connection events that a spoke needs.
constexpr int kMonitored = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                           ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED |
                           ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                           ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
// Frame and payload.
constexpr std::size_t kPartsMax = 2;
// While messages arrive without a pause, connection events are read once per this many messages.
constexpr std::uint32_t kMessagesBetweenLooks = 64;

Status unreachable(StatusCode code, const std::string& endpoint, std::string got,
                   std::string remedy) {
  return Status(code, {.what = fmt::format("coordinator at {}", endpoint),
                       .expected = "a connection",
                       .got = std::move(got),
                       .remedy = std::move(remedy)});
}

// The reason why an attempt or a connection ended: unavailable, permission_denied if the hub
// refuses this spoke's key, or mismatch if the handshake fails because the hub has another key.
struct AttemptEnd {
  StatusCode code = StatusCode::unavailable;
  std::string why = "no answer in time";
  std::string remedy = "check that it runs and that this is its address";
};
// An attempt to connect, and the connection that results from it.
struct ConnectionAttempt {
  ZmqSocket dealer = {};
  Monitor monitor = {};
  std::optional<Outbox> outbox = {};
  int descriptor = -1;  // of the TCP connection; owned by libzmq; -1: none
  bool ready = false;   // the handshake is complete
  bool over = false;    // it has ended; messages that it delivered are read first
  AttemptEnd end = {};
};

class ZmqSpoke final : public Spoke {
 public:
  ZmqSpoke(const SpokeOptions& options, std::shared_ptr<LinkContext> context, LinkWait wait)
      : options_(options),
        context_(std::move(context)),
        wait_(std::move(wait)),
        backoff_(options.times.redial_min, options.times.redial_max, options.seed) {}

  // The first attempt shows whether libzmq accepts the options.
  Status start() { return dial(); }

  bool encrypted() const override { return options_.encrypted; }
  const LinkLimits& limits() const override { return options_.limits; }
  void wake() override { wait_.wake(); }
  void give_up(ConnectionId connection) override;
  std::uint64_t bytes_arrived(ConnectionId connection) const override {
    const bool there = state_ == State::connected && connection == connection_;
    return there ? tcp_bytes_received(attempt_->descriptor) : 0;
  }
  LinkCounters counters() const override { return counters_; }
  std::size_t waiting_bytes() const override {
    return attempt_->outbox ? attempt_->outbox->waiting_bytes() : 0;
  }
  Status send(ConnectionId to, SharedSlice frame, SharedSlice payload) override;
  Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds deadline) override;
  std::vector<int> readable_files() const override { return {wait_.file()}; }

 private:
  // resting: pause between two attempts. dialling: an attempt or its handshake is in progress.
  enum class State : std::uint8_t { resting, dialling, connected };

  Status dial();
  Status identify();
  void hang_up();
  std::optional<LinkEvent> look_at_time();
  Status look_at_connection();
  LinkEvent connection_made();
  LinkEvent attempt_over();
  Result<std::optional<LinkEvent>> take_message(bool& took);
  Result<bool> wait(std::chrono::nanoseconds deadline);

  const SpokeOptions options_;
  const std::shared_ptr<LinkContext> context_;
  LinkWait wait_;
  Backoff backoff_;
  State state_ = State::resting;
  std::chrono::nanoseconds next_step_{0};  // resting: time to connect; dialling: time to give up
  ConnectionId connection_ = 0;
  std::optional<ConnectionAttempt> attempt_{std::in_place};  // never empty
  std::vector<ZmqMessage> parts_;
  // A received message behind a Connected that was returned first.
  std::optional<LinkEvent> message_;
  std::uint32_t until_look_ = 0;
  LinkCounters counters_;
};

Status ZmqSpoke::dial() {
  hang_up();
  state_ = State::resting;
  TRIBUTARY_ASSIGN(attempt_->dealer, ZmqSocket::open(context_->handle(), ZMQ_DEALER));
  TRIBUTARY_TRY(configure(attempt_->dealer, options_.limits, options_.times));
  TRIBUTARY_TRY(identify());
  // Reconnecting is turned off, because libzmq's own ends for good after one refusal.
  TRIBUTARY_TRY(attempt_->dealer.set(ZMQ_RECONNECT_IVL, -1));
  TRIBUTARY_TRY(attempt_->dealer.set(ZMQ_CONNECT_TIMEOUT,
                                     static_cast<int>(options_.times.connect_max.count())));
  // Without a connection, messages are not queued but refused.
  TRIBUTARY_TRY(attempt_->dealer.set(ZMQ_IMMEDIATE, 1));
  // Sends an empty message, which announces the connection to the hub.
  TRIBUTARY_TRY(attempt_->dealer.set(ZMQ_PROBE_ROUTER, 1));
  TRIBUTARY_ASSIGN(attempt_->monitor,
                   Monitor::of(context_->handle(), attempt_->dealer, kMonitored));
  TRIBUTARY_TRY(wait_.watch(LinkWait::Source::messages, attempt_->dealer.file()));
  TRIBUTARY_TRY(wait_.watch(LinkWait::Source::connections, attempt_->monitor.file()));
  if (zmq_connect(attempt_->dealer.get(), options_.endpoint.c_str()) != 0) {
    return zmq_failed(fmt::format("dialling {}", options_.endpoint));
  }
  state_ = State::dialling;
  // This deadline is needed because libzmq reports nothing if a name cannot be resolved.
  next_step_ = context_->clock().now() + options_.times.connect_max + options_.times.handshake_max;
  return {};
}

// Sets the key: through CURVE, or as the routing id of an unencrypted link.
Status ZmqSpoke::identify() {
  if (!options_.encrypted) {
    const std::string route = claimed_route(options_.keys.public_key);
    return attempt_->dealer.set(ZMQ_ROUTING_ID, bytes_of(std::string_view(route)));
  }
  return call_with_curve(attempt_->dealer, options_.keys, options_.hub);
}

// Closes the sockets of the current attempt. Unsent messages are dropped, because they must not be
// sent on the next connection.
void ZmqSpoke::hang_up() {
  wait_.forget_sockets();
  attempt_->monitor.stop();
  if (attempt_->dealer) ignore_error(attempt_->dealer.set(ZMQ_LINGER, 0));
  attempt_->dealer.close();
  attempt_.emplace();
}

Status ZmqSpoke::send(ConnectionId to, SharedSlice frame, SharedSlice payload) {
  const std::size_t bytes = frame.size() + payload.size();
  const std::size_t on_the_wire = wire_bytes(frame.size(), payload.size(), options_.encrypted);
  Status status = no_connection();
  if (state_ == State::connected && to == connection_) {
    status = attempt_->outbox->send(attempt_->dealer, {}, std::move(frame), std::move(payload));
    wait_.set_unread(LinkWait::Source::messages);
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

void ZmqSpoke::give_up(ConnectionId connection) {
  if (state_ != State::connected || connection != connection_) return;
  attempt_->end.why = "silence";
  attempt_->end.remedy = "the connection is dialled again";
  attempt_->over = true;
  wait_.set_unread(LinkWait::Source::messages);
}

// Received messages are read before the end of a connection is reported, so none of them is lost.
Result<std::optional<LinkEvent>> ZmqSpoke::receive(std::chrono::nanoseconds deadline) {
  while (true) {
    if (message_) return std::exchange(message_, std::nullopt);
    if (std::optional<LinkEvent> event = look_at_time()) return event;
    if (until_look_ == 0 || state_ == State::dialling ||
        wait_.unread(LinkWait::Source::connections)) {
      TRIBUTARY_TRY(look_at_connection());
    }
    if (attempt_->ready && state_ == State::dialling) return std::optional(connection_made());
    bool took = false;
    if (wait_.unread(LinkWait::Source::messages)) {
      --until_look_;
      TRIBUTARY_ASSIGN(std::optional<LinkEvent> event, take_message(took));
      if (event) return event;
    }
    if (took) continue;
    if (attempt_->over) return std::optional(attempt_over());
    TRIBUTARY_ASSIGN(const bool go_on, wait(deadline));
    if (!go_on) return std::optional<LinkEvent>();
  }
}

// Starts the next attempt, or gives up the current one, if it is time.
std::optional<LinkEvent> ZmqSpoke::look_at_time() {
  if (state_ == State::connected || context_->clock().now() < next_step_) return std::nullopt;
  if (state_ == State::dialling) return attempt_over();
  if (const Status status = dial(); !status.ok()) {
    attempt_->end.why = status.text();
    return attempt_over();
  }
  return std::nullopt;
}

// Processes the connection events of the current attempt. Its end is reported when no message is
// left, so these are read next.
Status ZmqSpoke::look_at_connection() {
  until_look_ = kMessagesBetweenLooks;
  wait_.set_read(LinkWait::Source::connections);
  if (attempt_->monitor.get() != nullptr) wait_.set_unread(LinkWait::Source::messages);
  while (attempt_->monitor.get() != nullptr) {
    TRIBUTARY_ASSIGN(const std::optional<MonitorEvent> event, attempt_->monitor.next());
    if (!event) break;
    switch (event->event) {
      case ZMQ_EVENT_CONNECTED:
        attempt_->descriptor = event->value;
        break;
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        attempt_->ready = true;
        attempt_->end.why = "one that the other side closed";
        attempt_->end.remedy = {};
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        attempt_->end.code = StatusCode::permission_denied;
        attempt_->end.why = "a refusal";
        attempt_->end.remedy =
            "add this key to the coordinator's allow-list with 'tributary keys allow'";
        attempt_->over = true;
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        attempt_->end.code = StatusCode::mismatch;
        attempt_->end.why = "a handshake that failed";
        attempt_->end.remedy =
            "compare the coordinator's public key in the settings or the join file with "
            "coordinator.key.pub, and check that both sides encrypt";
        attempt_->over = true;
        break;
      default:  // disconnected, or closed because nothing listens there
        attempt_->descriptor = -1;
        attempt_->over = true;
        break;
    }
  }
  return {};
}

// The connection can be used from now on.
LinkEvent ZmqSpoke::connection_made() {
  state_ = State::connected;
  attempt_->dealer.catch_up();  // makes libzmq send the announcement now
  ++connection_;
  ++counters_.connections;
  attempt_->outbox.emplace(options_.limits);
  return Connected{.connection = connection_, .peer = options_.hub};
}

// Reports the end of a connection or attempt, and plans the next attempt.
LinkEvent ZmqSpoke::attempt_over() {
  const bool was_connected = state_ == State::connected;
  Status why =
      unreachable(attempt_->end.code, options_.endpoint, attempt_->end.why, attempt_->end.remedy);
  const std::chrono::nanoseconds pause = backoff_.next();
  hang_up();
  state_ = State::resting;
  next_step_ = context_->clock().now() + pause;
  if (!was_connected) return Unreachable{.why = std::move(why), .retry_in = pause};
  return Disconnected{.connection = connection_, .peer = options_.hub, .why = std::move(why)};
}

// Reads one message. The returned event, if any, is a refusal of that message, or Connected if the
// message is read before the event of its handshake.
Result<std::optional<LinkEvent>> ZmqSpoke::take_message(bool& took) {
  TRIBUTARY_ASSIGN(took, attempt_->dealer.receive(parts_, kPartsMax));
  if (!took) {
    wait_.set_read(LinkWait::Source::messages);
    return std::optional<LinkEvent>();
  }
  std::array<ByteSpan, kPartsMax + 1> spans;
  for (std::size_t i = 0; i < parts_.size(); ++i) spans[i] = parts_[i].bytes();
  const auto read = read_parts(std::span(spans).first(parts_.size()), options_.limits);
  if (const RefusalReason* const reason = std::get_if<RefusalReason>(&read)) {
    counters_.refuse(*reason);
    return std::optional<LinkEvent>(Refused{.reason = *reason, .source = key_text(options_.hub)});
  }
  // Not earlier: a hub that closes every connection at once must not be called more often.
  backoff_.reset();
  std::optional<LinkEvent> first;
  if (state_ != State::connected) first = connection_made();
  const MessageParts& parts = std::get<MessageParts>(read);
  if (parts.greeting) return first;
  Received received{.connection = connection_,
                    .peer = options_.hub,
                    .frame = Bytes(parts.frame.begin(), parts.frame.end()),
                    .payload = {}};
  ++counters_.messages_in;
  counters_.bytes_in += parts.frame.size() + parts.payload.size();
  counters_.wire_bytes_in +=
      wire_bytes(parts.frame.size(), parts.payload.size(), options_.encrypted);
  if (!parts.payload.empty()) received.payload = shared_from(std::move(parts_[1]));
  if (!first) return std::optional<LinkEvent>(std::move(received));
  message_ = std::move(received);
  return first;
}

Result<bool> ZmqSpoke::wait(std::chrono::nanoseconds deadline) {
  const std::chrono::nanoseconds until =
      state_ == State::connected ? deadline : std::min(deadline, next_step_);
  TRIBUTARY_ASSIGN(const bool news, wait_.wait(until - context_->clock().now()));
  if (wait_.take_wake()) return false;
  return news || context_->clock().now() < deadline;
}

}  // namespace

Result<std::unique_ptr<Spoke>> open_spoke(const SpokeOptions& options) {
  std::shared_ptr<LinkContext> context = options.context;
  if (!context) {
    TRIBUTARY_ASSIGN(context, LinkContext::open({}));
  }
  TRIBUTARY_ASSIGN(LinkWait wait, LinkWait::open());
  auto spoke = std::make_unique<ZmqSpoke>(options, std::move(context), std::move(wait));
  TRIBUTARY_TRY(spoke->start());
  return std::unique_ptr<Spoke>(std::move(spoke));
}

}  // namespace tributary
