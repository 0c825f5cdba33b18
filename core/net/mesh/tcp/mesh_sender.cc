#include "core/net/mesh/tcp/mesh_sender.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace tributary {
namespace {

// Range of the pause between attempts to connect. A spoke waits longer, because a coordinator has
// to answer all its agents at once. Peers only wait for each other at the beginning of an epoch.
constexpr std::chrono::nanoseconds kRedialMin = std::chrono::milliseconds(50);
constexpr std::chrono::nanoseconds kRedialMax = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds kNoTime = std::chrono::nanoseconds::max();

Result<std::size_t> write_some(MeshChannel& channel, MeshOutgoing& message) {
  std::array<iovec, 2> parts{};
  const std::size_t count = message.rest(parts);
  TRIBUTARY_ASSIGN(const std::size_t sent, channel.write(std::span(parts).first(count)));
  message.sent += sent;
  return sent;
}

}  // namespace

// One attempt to connect, and the connection that it became.
struct MeshSender::Outgoing final : MeshConnection {
  explicit Outgoing(MeshSender& owner) : sender(owner) {}
  void ready(std::uint32_t events) override { sender.ready(events); }

  MeshSender& sender;
  bool connecting = true;
  bool welcomed = false;                 // the receiver has sent its welcome
  std::optional<MeshOutgoing> greeting;  // unsent part of the greeting
};

MeshSender::MeshSender(const MeshContext& context, std::uint32_t member, const Address& address)
    : context_(context), member_(member), address_(address) {}

MeshSender::~MeshSender() = default;

void MeshSender::push(MeshOutgoing message) {
  const std::size_t bytes = message.bytes();
  queue_.push(std::move(message), bytes);
  if (connection_ && connection_->welcomed) {
    // Behind other messages, or during a handshake, the message is sent when the socket has room.
    if (queue_.size() == 1) flush();
  } else if (!connection_ && redial_at_ == kNoTime) {
    const MeshOptions& options = context_.options;
    give_up_at_ = context_.clock.now() + options.connect_max;
    // The seed differs between members, so that they do not connect at the same time.
    backoff_.emplace(kRedialMin, kRedialMax, options.session + options.rank);
    dial();
  }
}

void MeshSender::close() {
  if (connection_) bury(context_, std::move(connection_));
  redial_at_ = kNoTime;
}

// --- connecting --------------------------------------------------------------------------------

void MeshSender::dial() {
  redial_at_ = kNoTime;
  if (Status status = connect(); !status.ok()) dial_later(std::move(status));
}

// The member may not listen yet, or may still be in the previous epoch.
void MeshSender::dial_later(Status why) {
  close();
  why_not_ = std::move(why);
  redial_at_ = context_.clock.now() + backoff_->next();
}

// Starts to connect without waiting. ready() continues when epoll reports the result.
Status MeshSender::connect() {
  auto connection = std::make_unique<Outgoing>(*this);
  connection->file =
      File(::socket(address_.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection->file) return os_failed("opening a socket");
  const int file = connection->file.get();
  const int on = 1;
  // Frames are small and an exchange waits for them, so Nagle's algorithm would add latency.
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  connection->deadline = give_up_at_;
  if (::connect(file, address_.get(), address_.bytes) != 0) {
    if (errno != EINPROGRESS) return os_failed(fmt::format("dialling member {}", member_));
  }
  if (context_.tls != nullptr) {
    TRIBUTARY_ASSIGN(connection->channel, context_.tls->call(file, member_));
  } else {
    connection->channel = plain_channel(file);
  }
  connection_ = std::move(connection);
  return connection_->watch(context_.poll, EPOLLIN | EPOLLOUT);
}

Status MeshSender::finish_connecting() {
  int error = 0;
  socklen_t bytes = sizeof(error);
  getsockopt(connection_->file.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  if (error != 0) {
    // Nothing listens at the address, so a long wait is less likely to help.
    if (error == ECONNREFUSED) {
      give_up_at_ = std::min(give_up_at_, context_.clock.now() + context_.options.refused_max);
    }
    errno = error;
    return os_failed("dialling it");
  }
  connection_->connecting = false;
  connection_->greeting = {
      .head = mesh_greeting({.rank = context_.options.rank, .session = context_.options.session})};
  return {};
}

void MeshSender::ready(std::uint32_t events) {
  Status status;
  if (connection_->connecting) {
    status = finish_connecting();
  } else if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    status = listen();
  }
  if (!status.ok()) return failed(std::move(status));
  flush();
}

// The receiver sends only TLS's own records, one welcome byte, and the end.
Status MeshSender::listen() {
  std::array<std::uint8_t, 16> welcome;
  TRIBUTARY_ASSIGN(const std::size_t bytes, connection_->channel->read(welcome));
  if (bytes == 0) return {};
  if (bytes != 1 || welcome[0] != kMeshWelcome || connection_->welcomed) {
    return Status(StatusCode::corrupt_data, {.what = fmt::format("member {}", member_),
                                             .expected = "one welcome and nothing after it",
                                             .got = "other bytes"});
  }
  connection_->welcomed = true;
  connection_->deadline = kNoTime;
  ++context_.counters.connections;
  return {};
}

// --- sending -----------------------------------------------------------------------------------

void MeshSender::flush() {
  if (Status status = send_some(); !status.ok()) failed(std::move(status));
}

// Sends until the socket is full, and asks epoll for the next opportunity if something is left.
Status MeshSender::send_some() {
  Outgoing& connection = *connection_;
  if (connection.greeting) {
    TRIBUTARY_TRY(write_some(*connection.channel, *connection.greeting).status());
    if (connection.greeting->done()) connection.greeting.reset();
  }
  while (connection.welcomed && !queue_.empty()) {
    TRIBUTARY_ASSIGN(const std::size_t sent, write_some(*connection.channel, queue_.front()));
    queue_.sent(sent);
    if (sent == 0) break;
    if (queue_.front().done()) queue_.pop();
  }
  const bool more = connection.greeting || (connection.welcomed && !queue_.empty()) ||
                    connection.channel->has_to_write();
  return connection.watch(context_.poll, more ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void MeshSender::failed(Status why) {
  // Before the welcome no message was sent, so a new connection loses nothing.
  if (!connection_->welcomed) return dial_later(std::move(why));
  context_.events.member_gone(member_, std::move(why));
}

// --- time --------------------------------------------------------------------------------------

std::chrono::nanoseconds MeshSender::next_due() const {
  return connection_ ? std::min(redial_at_, connection_->deadline) : redial_at_;
}

void MeshSender::look_at_time(std::chrono::nanoseconds now) {
  const auto too_late = [this] {
    context_.events.member_gone(member_, mesh_step_late("dialling it", why_not_));
  };
  if (redial_at_ <= now && now >= give_up_at_) {
    too_late();
  } else if (redial_at_ <= now) {
    dial();
  }
  if (connection_ && connection_->deadline <= now) too_late();
}

const File* MeshSender::socket() const {
  return connection_ && !connection_->connecting ? &connection_->file : nullptr;
}

void MeshSender::add_wire_bytes(LinkCounters& counters) const {
  if (connection_) connection_->add_wire_bytes(counters);
}

}  // namespace tributary
