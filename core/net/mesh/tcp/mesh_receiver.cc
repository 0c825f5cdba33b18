#include "core/net/mesh/tcp/mesh_receiver.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/net/arrival_timer.h"

namespace tributary {
namespace {

// A receiver that wakes up for every packet spends more time on wake-ups than on bytes. It
// therefore sleeps until a large part of the bytes that it expects has arrived (SO_RCVLOWAT).
constexpr int kWakeBytesMax = 128 << 10;
// Up to this size a receiver wakes up for every packet.
constexpr std::size_t kEagerBytes = 64u << 10;
// Bound on one TLS record. OpenSSL may have read part of a record from the socket, and a receiver
// that waits for more bytes than the socket will get sleeps forever.
constexpr std::size_t kRecordBytesMax = 17u << 10;
// Bound on the free buffers that the pool keeps, in bytes.
constexpr std::size_t kSpareBytesMax = 32u << 20;

Status peer_mismatch(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::mismatch, {.what = std::move(what),
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = "the member must wait for the next membership"});
}

}  // namespace

// A connection that another member made.
struct MeshReceiver::Incoming final : MeshConnection {
  Incoming(MeshReceiver& owner, MeshReader stream) : receiver(owner), reader(std::move(stream)) {}
  void ready(std::uint32_t) override { receiver.read(*this); }
  // Makes the receiver sleep until a large part of the current payload has arrived.
  void set_wake_bytes();

  MeshReceiver& receiver;
  MeshReader reader;
  ArrivalTimer timer;
  // Rank that the key has proven; null without encryption.
  std::shared_ptr<const std::uint32_t> proven;
  std::optional<std::uint32_t> from;  // rank in the greeting, once it has arrived
  std::string source;
  int wake_bytes = 1;  // current value of SO_RCVLOWAT
};

void MeshReceiver::Incoming::set_wake_bytes() {
  const std::size_t left = reader.unfilled().size();
  const int bytes =
      left < kEagerBytes
          ? 1
          : static_cast<int>(std::min<std::size_t>(left - kRecordBytesMax, kWakeBytesMax));
  if (bytes == wake_bytes) return;
  wake_bytes = bytes;
  setsockopt(file.get(), SOL_SOCKET, SO_RCVLOWAT, &wake_bytes, sizeof(wake_bytes));
}

MeshReceiver::MeshReceiver(const MeshPort& port, const MeshContext& context)
    : port_(port), context_(context), pool_(kSpareBytesMax), by_member_(context.members()) {}

MeshReceiver::~MeshReceiver() = default;

Status MeshReceiver::start() { return context_.poll.watch(port_.file(), *this, EPOLLIN); }

void MeshReceiver::ready(std::uint32_t) {
  for (;;) {
    Address address;
    address.bytes = sizeof(address.storage);
    File file(::accept4(port_.file(), address.get(), &address.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!file) return;
    const std::string source = text_of(address);
    if (Status status = admit(std::move(file), source); !status.ok()) {
      context_.events.connection_refused(source, std::move(status));
    }
  }
}

Status MeshReceiver::admit(File file, std::string source) {
  // A second connection of a member may exist for a short time after it has connected again, and a
  // few others may be from unknown processes.
  const std::size_t most = 2 * by_member_.size() + 8;
  if (accepted_.size() >= most) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "connections of peers",
                   .expected = fmt::format("at most {} at a time", most),
                   .got = "one more"});
  }
  const MeshOptions& options = context_.options;
  auto connection = std::make_unique<Incoming>(
      *this, MeshReader(options.limits.frame_bytes_max, options.limits.payload_bytes_max, pool_));
  connection->file = std::move(file);
  connection->source = std::move(source);
  connection->deadline = context_.clock.now() + options.handshake_max;
  if (context_.tls != nullptr) {
    TRIBUTARY_ASSIGN(TlsSettings::Answered tls, context_.tls->answer(connection->file.get()));
    connection->channel = std::move(tls.channel);
    connection->proven = std::move(tls.from);
  } else {
    connection->channel = plain_channel(connection->file.get());
  }
  TRIBUTARY_TRY(connection->watch(context_.poll, EPOLLIN));
  Incoming* const key = connection.get();
  accepted_.emplace(key, std::move(connection));
  return {};
}

void MeshReceiver::read(Incoming& connection) {
  if (Status status = read_message(connection); !status.ok()) drop(connection, std::move(status));
}

Status MeshReceiver::read_message(Incoming& connection) {
  MeshReader& reader = connection.reader;
  MeshChannel& channel = *connection.channel;
  for (;;) {
    const std::chrono::nanoseconds looked_at = context_.clock.now();
    TRIBUTARY_ASSIGN(const std::size_t bytes, channel.read(reader.unfilled()));
    if (bytes == 0) {
      if (reader.in_payload()) connection.timer.caught_up(looked_at, channel.bytes_in);
      break;
    }
    TRIBUTARY_ASSIGN(const MeshReader::Completed completed, reader.process(bytes));
    if (completed == MeshReader::Completed::greeting) TRIBUTARY_TRY(greet(connection));
    if (completed != MeshReader::Completed::message) continue;
    context_.events.message_arrived(
        {.connection = *connection.from,
         .peer = context_.options.members[*connection.from].key,
         .frame = reader.take_frame(),
         .payload = reader.take_payload(),
         .arrival = connection.timer.whole(context_.clock.now(), channel.bytes_in)});
    // The socket does not report bytes inside TLS, so epoll would not wake this thread for them.
    if (!channel.holds_bytes()) break;
  }
  connection.set_wake_bytes();
  return connection.watch(context_.poll, channel.has_to_write() ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

Status MeshReceiver::greet(Incoming& connection) {
  const MeshGreeting& greeting = *connection.reader.greeting();
  if (greeting.session != context_.options.session) {
    return peer_mismatch("a peer's session", "the session of this epoch", "another session");
  }
  if (greeting.rank >= by_member_.size() || greeting.rank == context_.options.rank) {
    return peer_mismatch("a peer's rank", fmt::format("another, below {}", by_member_.size()),
                         fmt::format("{}", greeting.rank));
  }
  if (connection.proven && *connection.proven != greeting.rank) {
    return peer_mismatch("a peer's rank",
                         fmt::format("{}, which its key belongs to", *connection.proven),
                         fmt::format("{}", greeting.rank));
  }
  if (by_member_[greeting.rank] != nullptr) {
    return peer_mismatch("a peer's connection", "one connection from each member",
                         fmt::format("a second one from member {}", greeting.rank));
  }
  std::uint8_t welcome = kMeshWelcome;
  const iovec part = {.iov_base = &welcome, .iov_len = 1};
  TRIBUTARY_ASSIGN(const std::size_t sent, connection.channel->write(std::span(&part, 1)));
  if (sent != 1) return os_failed("welcoming a peer");
  connection.from = greeting.rank;
  connection.deadline = std::chrono::nanoseconds::max();
  ++context_.counters.connections;
  by_member_[greeting.rank] = &connection;
  return {};
}

void MeshReceiver::drop(Incoming& connection, Status why) {
  const std::optional<std::uint32_t> from = connection.from;
  std::string source = connection.source;
  bury(context_, std::move(accepted_.extract(&connection).mapped()));
  if (!from) return context_.events.connection_refused(std::move(source), std::move(why));
  by_member_[*from] = nullptr;
  context_.events.member_gone(*from, std::move(why));
}

std::chrono::nanoseconds MeshReceiver::next_due() const {
  std::chrono::nanoseconds due = std::chrono::nanoseconds::max();
  for (const auto& [key, connection] : accepted_) due = std::min(due, connection->deadline);
  return due;
}

void MeshReceiver::look_at_time(std::chrono::nanoseconds now) {
  std::vector<Incoming*> overdue;
  for (const auto& [key, connection] : accepted_) {
    if (connection->deadline <= now) overdue.push_back(key);
  }
  for (Incoming* const connection : overdue) drop(*connection, mesh_step_late("a handshake"));
}

const File* MeshReceiver::socket_of(std::uint32_t member) const {
  const Incoming* const connection = by_member_[member];
  return connection != nullptr ? &connection->file : nullptr;
}

void MeshReceiver::add_wire_bytes(LinkCounters& counters) const {
  for (const auto& [key, connection] : accepted_) connection->add_wire_bytes(counters);
}

}  // namespace tributary
