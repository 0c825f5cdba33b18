#include "core/link/feed.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/link/socket_settings.h"
#include "core/link/zmq_socket.h"

namespace tributary {
namespace {

constexpr const char* kWatchersDomain = "watchers";
constexpr int kRefused = ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;

LinkLimits limits_of(std::size_t message_bytes_max, std::uint32_t queue_messages) {
  return {.frame_bytes_max = message_bytes_max,
          .payload_bytes_max = 0,
          .send_queue_messages = queue_messages,
          .receive_queue_messages = queue_messages};
}

class ZmqPublisher final : public Publisher {
 public:
  ZmqPublisher(const FeedOptions& options, std::shared_ptr<LinkContext> context)
      : options_(options),
        limits_(limits_of(options.message_bytes_max, options.queue_messages)),
        context_(std::move(context)) {}
  ~ZmqPublisher() override {
    if (guarding_) context_->gate().leave(kWatchersDomain);
  }

  Status start() {
    TRIBUTARY_ASSIGN(socket_, ZmqSocket::open(context_->handle(), ZMQ_PUB));
    TRIBUTARY_TRY(configure(socket_, limits_, options_.times));
    if (options_.encrypted) TRIBUTARY_TRY(guard());
    if (zmq_bind(socket_.get(), options_.endpoint.c_str()) != 0) {
      return zmq_failed(fmt::format("listening at {}", options_.endpoint));
    }
    TRIBUTARY_ASSIGN(endpoint_, socket_.last_endpoint());
    return {};
  }

  std::string endpoint() const override { return endpoint_; }
  Status publish(ByteSpan message) override {
    TRIBUTARY_TRY(check_caps(limits_, message.size(), 0));
    ZmqMessage part(message);
    if (socket_.send_part(part, false) != 0) return zmq_failed("publishing");
    return {};
  }

 private:
  Status guard() {
    if (!options_.watchers) {
      return Status(StatusCode::invalid_argument, {.what = "publisher",
                                                   .expected = "an allow-list of watchers",
                                                   .got = "none",
                                                   .remedy = "hand one in, even an empty one"});
    }
    TRIBUTARY_TRY(context_->gate().guard(kWatchersDomain, options_.watchers));
    guarding_ = true;
    return serve_with_curve(socket_, options_.keys, kWatchersDomain);
  }

  const FeedOptions options_;
  const LinkLimits limits_;
  const std::shared_ptr<LinkContext> context_;
  bool guarding_ = false;
  ZmqSocket socket_;
  std::string endpoint_;
};

class ZmqWatcher final : public Watcher {
 public:
  ZmqWatcher(const WatcherOptions& options, std::shared_ptr<LinkContext> context)
      : options_(options),
        limits_(limits_of(options.message_bytes_max, options.queue_messages)),
        context_(std::move(context)) {}

  Status start() {
    TRIBUTARY_ASSIGN(socket_, ZmqSocket::open(context_->handle(), ZMQ_SUB));
    TRIBUTARY_TRY(configure(socket_, limits_, options_.times));
    TRIBUTARY_TRY(socket_.set(ZMQ_SUBSCRIBE, ByteSpan()));
    TRIBUTARY_TRY(
        socket_.set(ZMQ_RECONNECT_IVL, static_cast<int>(options_.times.redial_min.count())));
    TRIBUTARY_TRY(
        socket_.set(ZMQ_RECONNECT_IVL_MAX, static_cast<int>(options_.times.redial_max.count())));
    if (options_.encrypted) {
      TRIBUTARY_TRY(call_with_curve(socket_, options_.keys, options_.publisher));
    }
    TRIBUTARY_ASSIGN(monitor_, Monitor::of(context_->handle(), socket_, kRefused));
    if (zmq_connect(socket_.get(), options_.endpoint.c_str()) == 0) return {};
    return zmq_failed(fmt::format("dialling {}", options_.endpoint));
  }

  Result<std::optional<Bytes>> receive(std::chrono::nanoseconds deadline) override {
    while (true) {
      TRIBUTARY_ASSIGN(const bool came, socket_.receive(parts_, 1));
      if (came && parts_.size() == 1) {
        const ByteSpan message = parts_[0].bytes();
        return std::optional<Bytes>(Bytes(message.begin(), message.end()));
      }
      TRIBUTARY_TRY(check_welcome());
      const std::chrono::nanoseconds left = deadline - context_->clock().now();
      if (left.count() <= 0) return std::optional<Bytes>();
      std::array<zmq_pollitem_t, 2> items = {
          {{.socket = socket_.get(), .fd = 0, .events = ZMQ_POLLIN, .revents = 0},
           {.socket = monitor_.get(), .fd = 0, .events = ZMQ_POLLIN, .revents = 0}}};
      TRIBUTARY_TRY(wait_for(items, left).status());
    }
  }

 private:
  Status check_welcome() {
    TRIBUTARY_ASSIGN(const std::optional<MonitorEvent> event, monitor_.next());
    if (!event) return {};
    return Status(StatusCode::unavailable,
                  {.what = fmt::format("the publisher at {}", options_.endpoint),
                   .expected = "to be let in",
                   .got = "a refusal",
                   .remedy = "have this key put on its list of watchers"});
  }

  const WatcherOptions options_;
  const LinkLimits limits_;
  const std::shared_ptr<LinkContext> context_;
  ZmqSocket socket_;
  Monitor monitor_;
  std::vector<ZmqMessage> parts_;
};

template <typename Feed, typename Options>
Result<std::unique_ptr<Feed>> started(const Options& options) {
  std::shared_ptr<LinkContext> context = options.context;
  if (!context) {
    TRIBUTARY_ASSIGN(context, LinkContext::open({}));
  }
  auto feed = std::make_unique<Feed>(options, std::move(context));
  TRIBUTARY_TRY(feed->start());
  return feed;
}

}  // namespace

Result<std::unique_ptr<Publisher>> open_publisher(const FeedOptions& options) {
  TRIBUTARY_ASSIGN(std::unique_ptr<ZmqPublisher> publisher, started<ZmqPublisher>(options));
  return std::unique_ptr<Publisher>(std::move(publisher));
}

Result<std::unique_ptr<Watcher>> open_watcher(const WatcherOptions& options) {
  TRIBUTARY_ASSIGN(std::unique_ptr<ZmqWatcher> watcher, started<ZmqWatcher>(options));
  return std::unique_ptr<Watcher>(std::move(watcher));
}

}  // namespace tributary
