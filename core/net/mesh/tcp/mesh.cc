#include "core/net/mesh/tcp/mesh.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "core/net/backoff.h"
#include "core/net/buffer_pool.h"
#include "core/net/mesh/tcp/mesh_channel.h"
#include "core/net/mesh/tcp/mesh_socket.h"
#include "core/net/mesh/tcp/mesh_stream.h"
#include "core/net/message_queue.h"
#include "core/net/peer_transport.h"
#include "core/net/tcp_statistics.h"
#include "core/net/waker.h"

namespace tributary {
namespace {

using Time = std::chrono::nanoseconds;

// Range of the pause between attempts to connect. A spoke waits longer, because a coordinator has
// to answer all its agents at once. Peers only wait for each other at the beginning of an epoch.
constexpr Time kRedialMin = std::chrono::milliseconds(50);
constexpr Time kRedialMax = std::chrono::milliseconds(100);
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
constexpr std::size_t kEventsAtOnce = 64;

// One direction, from the member that connected to the member that accepted.
struct Connection {
  File file;
  std::unique_ptr<MeshChannel> channel;
  bool dialled = false;
  bool connecting = false;
  std::uint32_t events = 0;    // events that epoll watches
  Time deadline{Time::max()};  // deadline of the handshake
  // For connections that this member made:
  std::uint32_t member = 0;
  // The receiver has sent its welcome. Before that only the greeting is sent, so that the
  // connection can be replaced by a new one without losing a message.
  bool welcomed = false;
  std::optional<MeshOutgoing> greeting;  // unsent part of the greeting
  // For connections that this member accepted:
  std::optional<MeshReader> reader;
  ArrivalTimer timer;
  // Rank that the key has proven; null without encryption.
  std::shared_ptr<const std::uint32_t> proven;
  std::optional<std::uint32_t> from;  // rank in the greeting, once it has arrived
  std::string source;
  int wake_bytes = 1;  // current value of SO_RCVLOWAT
  bool gone = false;   // waits in gone_ to be destroyed
};

// The state of one other member.
struct Peer {
  Address address;
  std::unique_ptr<Connection> out;
  MessageQueue<MeshOutgoing> queue;  // sent once the connection has its welcome
  Status why_not;                    // error of the last attempt to connect
  std::optional<Backoff> backoff;    // set at the first attempt
  // Time::max() if no attempt is planned.
  Time redial_at{Time::max()};
  // After this time no further attempt is made.
  Time give_up_at{Time::max()};
  Connection* in = nullptr;  // connection from this member; owned by answered_
};

class TcpMesh final : public PeerTransport {
 public:
  TcpMesh(const MeshPort& port, const MeshOptions& options, const Clock& clock, File epoll,
          Waker waker)
      : PeerTransport(
            options.limits,
            {.count = static_cast<std::uint32_t>(options.members.size()), .own_rank = options.rank},
            kMeshHeaderBytes),
        port_(port),
        options_(options),
        clock_(clock),
        epoll_(std::move(epoll)),
        waker_(std::move(waker)),
        peers_(options.members.size()) {}

  Status start();
  Result<std::optional<LinkEvent>> receive(Time deadline) override;
  void wake() override { waker_.signal(); }
  bool encrypted() const override { return options_.keys != nullptr; }
  LinkCounters counters() const override;
  std::size_t waiting_bytes_for(ConnectionId member) const override {
    return peers_[member].queue.bytes();
  }
  std::size_t forget(ConnectionId member) override { return peers_[member].queue.clear(); }
  std::optional<double> round_trip_min_s(ConnectionId member) const override;

 private:
  Status accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) override;
  Status watch(Connection& connection, std::uint32_t events);
  Status add_to_epoll(int file, void* tag) const;
  void dial(std::uint32_t member);
  void dial_later(std::uint32_t member, Status why);
  Status listen_to(Connection& connection);
  Status connect(Peer& peer, std::uint32_t member);
  void flush(std::uint32_t member);
  Status flush(Peer& peer);
  void answer();
  Status admit(File file, std::string source);
  void read(Connection& connection);
  Result<bool> read_message(Connection& connection);
  Status greet(Connection& connection);
  void set_wake_bytes(Connection& connection) const;
  void serve(Connection& connection, std::uint32_t events);
  void lose(std::uint32_t member, Status why);
  void drop(Connection& connection, Status why);
  void look_at_time(Time now);
  Time next_due() const;
  void bury(std::unique_ptr<Connection> connection);

  const MeshPort& port_;
  const MeshOptions options_;
  const Clock& clock_;
  const File epoll_;
  Waker waker_;
  BufferPool pool_{kSpareBytesMax};
  std::unique_ptr<PairKeys> keys_;
  std::unique_ptr<TlsSettings> tls_;
  std::vector<Peer> peers_;
  // Connections that this member accepted, also before their greeting has arrived.
  std::map<Connection*, std::unique_ptr<Connection>> answered_;
  // Ended connections, until the current batch of events is processed.
  std::vector<std::unique_ptr<Connection>> gone_;
};

Status TcpMesh::start() {
  if (options_.keys) {
    std::vector<PublicKey> keys;
    for (const MeshMember& member : options_.members) keys.push_back(member.key);
    keys_ = make_pair_keys(*options_.keys, options_.rank, keys, options_.session);
    TRIBUTARY_ASSIGN(
        tls_, TlsSettings::make(*keys_, options_.rank, static_cast<std::uint32_t>(peers_.size())));
  }
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (i == options_.rank) continue;
    TRIBUTARY_ASSIGN(peers_[i].address, parse_address(options_.members[i].endpoint));
  }
  // The tag tells the port (null), the waker and connections apart.
  TRIBUTARY_TRY(add_to_epoll(port_.file(), nullptr));
  return add_to_epoll(waker_.file(), &waker_);
}

Status TcpMesh::add_to_epoll(int file, void* tag) const {
  epoll_event event = {.events = EPOLLIN, .data = {.ptr = tag}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, file, &event) == 0) return {};
  return os_failed("watching a socket");
}

Status TcpMesh::watch(Connection& connection, std::uint32_t events) {
  if (connection.events == events) return {};
  epoll_event event = {.events = events, .data = {.ptr = &connection}};
  const int operation = connection.events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(epoll_.get(), operation, connection.file.get(), &event) != 0) {
    return os_failed("watching a peer's connection");
  }
  connection.events = events;
  return {};
}

// --- sending -----------------------------------------------------------------------------------

// Queues the message and connects to the member at the first one.
Status TcpMesh::accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) {
  Bytes head = mesh_head(frame.view(), payload.size());
  MeshOutgoing message{.head = std::move(head), .payload = std::move(payload)};
  const std::size_t bytes = message.bytes();
  Peer& peer = peers_[to];
  peer.queue.push(std::move(message), bytes);
  if (peer.out && peer.out->welcomed) {
    // Behind other messages, or during a handshake, the message is sent when the socket has room.
    if (peer.queue.size() == 1) flush(to);
  } else if (!peer.out && peer.redial_at == Time::max()) {
    peer.give_up_at = clock_.now() + options_.connect_max;
    // The seed differs between members, so that they do not connect at the same time.
    peer.backoff.emplace(kRedialMin, kRedialMax, options_.session + options_.rank);
    dial(to);
  }
  return {};
}

void TcpMesh::dial(std::uint32_t member) {
  Peer& peer = peers_[member];
  peer.redial_at = Time::max();
  if (Status status = connect(peer, member); !status.ok()) dial_later(member, std::move(status));
}

// The member may not listen yet, or may still be in the previous epoch.
void TcpMesh::dial_later(std::uint32_t member, Status why) {
  Peer& peer = peers_[member];
  bury(std::move(peer.out));
  peer.why_not = std::move(why);
  peer.redial_at = clock_.now() + peer.backoff->next();
}

// Starts to connect without waiting. serve() continues when epoll reports the result.
Status TcpMesh::connect(Peer& peer, std::uint32_t member) {
  auto connection = std::make_unique<Connection>();
  connection->file =
      File(::socket(peer.address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection->file) return os_failed("opening a socket");
  const int file = connection->file.get();
  const int on = 1;
  // Frames are small and an exchange waits for them, so Nagle's algorithm would add latency.
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  connection->dialled = true;
  connection->member = member;
  connection->deadline = peer.give_up_at;
  connection->connecting = true;
  if (::connect(file, peer.address.get(), peer.address.bytes) != 0) {
    if (errno != EINPROGRESS) return os_failed(fmt::format("dialling member {}", member));
  }
  if (tls_) {
    TRIBUTARY_ASSIGN(connection->channel, tls_->call(file, member));
  } else {
    connection->channel = plain_channel(file);
  }
  peer.out = std::move(connection);
  return watch(*peer.out, EPOLLIN | EPOLLOUT);
}

void TcpMesh::flush(std::uint32_t member) {
  Status status = flush(peers_[member]);
  if (status.ok()) return;
  // Before the welcome no message was sent, so a new connection loses nothing.
  if (!peers_[member].out->welcomed) return dial_later(member, std::move(status));
  lose(member, std::move(status));
}

Result<std::size_t> write_some(Connection& connection, MeshOutgoing& message) {
  std::array<iovec, 2> parts{};
  const std::size_t count = message.rest(parts);
  TRIBUTARY_ASSIGN(const std::size_t sent,
                   connection.channel->write(std::span(parts).first(count)));
  message.sent += sent;
  return sent;
}

// Sends until the socket is full, and asks epoll for the next opportunity if something is left.
Status TcpMesh::flush(Peer& peer) {
  Connection& connection = *peer.out;
  if (connection.connecting) return {};
  if (connection.greeting) {
    TRIBUTARY_TRY(write_some(connection, *connection.greeting).status());
    if (connection.greeting->done()) connection.greeting.reset();
  }
  MessageQueue<MeshOutgoing>& queue = peer.queue;
  while (connection.welcomed && !queue.empty()) {
    TRIBUTARY_ASSIGN(const std::size_t sent, write_some(connection, queue.front()));
    queue.sent(sent);
    if (sent == 0) break;
    if (queue.front().done()) queue.pop();
  }
  const bool more = connection.greeting || (connection.welcomed && !queue.empty()) ||
                    connection.channel->has_to_write();
  return watch(connection, more ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

// --- receiving ---------------------------------------------------------------------------------

void TcpMesh::answer() {
  for (;;) {
    Address address;
    address.bytes = sizeof(address.storage);
    File file(::accept4(port_.file(), address.get(), &address.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!file) return;
    const std::string source = text_of(address);
    if (Status status = admit(std::move(file), source); !status.ok()) {
      report_refused(source, std::move(status));
    }
  }
}

Status TcpMesh::admit(File file, std::string source) {
  // Each other member makes one connection. A second one may exist for a short time after the
  // member has connected again, and a few others may be from unknown processes.
  const std::size_t most = 2 * peers_.size() + 8;
  if (answered_.size() >= most) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "connections of peers",
                   .expected = fmt::format("at most {} at a time", most),
                   .got = "one more"});
  }
  auto connection = std::make_unique<Connection>();
  connection->file = std::move(file);
  connection->source = std::move(source);
  connection->deadline = clock_.now() + options_.handshake_max;
  connection->reader.emplace(options_.limits.frame_bytes_max, options_.limits.payload_bytes_max,
                             pool_);
  if (tls_) {
    TRIBUTARY_ASSIGN(TlsSettings::Answered tls, tls_->answer(connection->file.get()));
    connection->channel = std::move(tls.channel);
    connection->proven = std::move(tls.from);
  } else {
    connection->channel = plain_channel(connection->file.get());
  }
  TRIBUTARY_TRY(watch(*connection, EPOLLIN));
  Connection* const key = connection.get();
  answered_.emplace(key, std::move(connection));
  return {};
}

void TcpMesh::read(Connection& connection) {
  Result<bool> more = read_message(connection);
  if (!more.ok()) drop(connection, std::move(more).status());
}

// Returns after each complete message, so that its event is delivered before the next one is read.
Result<bool> TcpMesh::read_message(Connection& connection) {
  for (;;) {
    MeshReader& reader = *connection.reader;
    const Time looked_at = clock_.now();
    TRIBUTARY_ASSIGN(const std::size_t bytes, connection.channel->read(reader.wanted()));
    if (bytes == 0) {
      if (reader.in_payload()) connection.timer.caught_up(looked_at, connection.channel->bytes_in);
      break;
    }
    TRIBUTARY_ASSIGN(const MeshReader::Completed completed, reader.process(bytes));
    if (completed == MeshReader::Completed::greeting) TRIBUTARY_TRY(greet(connection));
    if (completed != MeshReader::Completed::message) continue;
    report({.connection = *connection.from,
            .peer = options_.members[*connection.from].key,
            .frame = reader.take_frame(),
            .payload = reader.take_payload(),
            .arrival = connection.timer.whole(clock_.now(), connection.channel->bytes_in)});
    // The socket does not report bytes inside TLS, so epoll would not wake this thread for them.
    if (!connection.channel->holds_bytes()) break;
  }
  set_wake_bytes(connection);
  TRIBUTARY_TRY(
      watch(connection, connection.channel->has_to_write() ? EPOLLIN | EPOLLOUT : EPOLLIN));
  return true;
}

Status TcpMesh::greet(Connection& connection) {
  const MeshGreeting& greeting = *connection.reader->greeting();
  const auto mismatch = [](std::string what, std::string expected, std::string got) {
    return Status(StatusCode::mismatch, {.what = std::move(what),
                                         .expected = std::move(expected),
                                         .got = std::move(got),
                                         .remedy = "the member must wait for the next membership"});
  };
  if (greeting.session != options_.session) {
    return mismatch("a peer's session", "the session of this epoch", "another session");
  }
  if (greeting.rank >= peers_.size() || greeting.rank == options_.rank) {
    return mismatch("a peer's rank", fmt::format("another, below {}", peers_.size()),
                    fmt::format("{}", greeting.rank));
  }
  if (connection.proven && *connection.proven != greeting.rank) {
    return mismatch("a peer's rank",
                    fmt::format("{}, which its key belongs to", *connection.proven),
                    fmt::format("{}", greeting.rank));
  }
  Peer& peer = peers_[greeting.rank];
  if (peer.in != nullptr) {
    return mismatch("a peer's connection", "one connection from each member",
                    fmt::format("a second one from member {}", greeting.rank));
  }
  std::uint8_t welcome = kMeshWelcome;
  const iovec part = {.iov_base = &welcome, .iov_len = 1};
  TRIBUTARY_ASSIGN(const std::size_t sent, connection.channel->write(std::span(&part, 1)));
  if (sent != 1) return os_failed("welcoming a peer");
  connection.from = greeting.rank;
  connection.deadline = Time::max();
  ++counters_.connections;
  peer.in = &connection;
  return {};
}

// Makes the receiver sleep until a large part of the current payload has arrived.
void TcpMesh::set_wake_bytes(Connection& connection) const {
  const std::size_t left = connection.reader->wanted().size();
  const int wake_bytes =
      left < kEagerBytes
          ? 1
          : static_cast<int>(std::min<std::size_t>(left - kRecordBytesMax, kWakeBytesMax));
  if (wake_bytes == connection.wake_bytes) return;
  connection.wake_bytes = wake_bytes;
  setsockopt(connection.file.get(), SOL_SOCKET, SO_RCVLOWAT, &wake_bytes, sizeof(wake_bytes));
}

void TcpMesh::serve(Connection& connection, std::uint32_t events) {
  if (connection.gone) return;
  if (!connection.dialled) return read(connection);
  const std::uint32_t member = connection.member;
  if (connection.connecting) {
    int error = 0;
    socklen_t bytes = sizeof(error);
    getsockopt(connection.file.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) {
      errno = error;
      Peer& peer = peers_[member];
      // Nothing listens at the address, so a long wait is less likely to help.
      if (error == ECONNREFUSED) {
        peer.give_up_at = std::min(peer.give_up_at, clock_.now() + options_.refused_max);
      }
      return dial_later(member, os_failed("dialling it"));
    }
    connection.connecting = false;
    connection.greeting = {.head =
                               mesh_greeting({.rank = options_.rank, .session = options_.session})};
  } else if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    if (Status status = listen_to(connection); !status.ok()) {
      if (!connection.welcomed) return dial_later(member, std::move(status));
      return lose(member, std::move(status));
    }
  }
  flush(member);
}

// On a connection that this member made, the receiver sends only TLS's own records, one welcome
// byte, and the end.
Status TcpMesh::listen_to(Connection& connection) {
  std::array<std::uint8_t, 16> welcome;
  TRIBUTARY_ASSIGN(const std::size_t bytes, connection.channel->read(welcome));
  if (bytes == 0) return {};
  if (bytes != 1 || welcome[0] != kMeshWelcome || connection.welcomed) {
    return Status(StatusCode::corrupt_data, {.what = fmt::format("member {}", connection.member),
                                             .expected = "one welcome and nothing after it",
                                             .got = "other bytes"});
  }
  connection.welcomed = true;
  connection.deadline = Time::max();
  ++counters_.connections;
  return {};
}

// --- ends --------------------------------------------------------------------------------------

// Keeps the object until the current batch of epoll events, which may refer to it, is processed.
void TcpMesh::bury(std::unique_ptr<Connection> connection) {
  if (!connection) return;
  if (connection->channel) {
    counters_.wire_bytes_in += connection->channel->bytes_in;
    counters_.wire_bytes_out += connection->channel->bytes_out;
  }
  connection->gone = true;
  connection->channel.reset();
  connection->file = File();
  gone_.push_back(std::move(connection));
}

// The member is lost for the rest of the epoch: its queue is dropped and its loss is reported.
void TcpMesh::lose(std::uint32_t member, Status why) {
  Peer& peer = peers_[member];
  if (lost(member)) return;
  bury(std::move(peer.out));
  peer.redial_at = Time::max();
  report_lost(member, options_.members[member].key, std::move(why), forget(member));
}

// Ends an accepted connection. If its member is known, the member is lost; otherwise the connection
// is reported as refused.
void TcpMesh::drop(Connection& connection, Status why) {
  const std::optional<std::uint32_t> from = connection.from;
  const std::string source = connection.source;
  bury(std::move(answered_.extract(&connection).mapped()));
  if (from) {
    peers_[*from].in = nullptr;
    return lose(*from, std::move(why));
  }
  report_refused(source, std::move(why));
}

Time TcpMesh::next_due() const {
  Time due = Time::max();
  for (const Peer& peer : peers_) {
    due = std::min(due, peer.redial_at);
    if (peer.out) due = std::min(due, peer.out->deadline);
  }
  for (const auto& [key, connection] : answered_) due = std::min(due, connection->deadline);
  return due;
}

// Makes due attempts to connect, and ends attempts and handshakes that take too long.
void TcpMesh::look_at_time(Time now) {
  const auto late = [](std::string what, const Status& why = {}) {
    return Status(StatusCode::deadline_exceeded,
                  {.what = std::move(what),
                   .expected = "an answer in time",
                   .got = why.ok() ? "none" : why.text(),
                   .remedy = "check that the two devices can reach each other"});
  };
  for (std::uint32_t member = 0; member < peers_.size(); ++member) {
    Peer& peer = peers_[member];
    if (peer.redial_at <= now && now >= peer.give_up_at) {
      lose(member, late("dialling it", peer.why_not));
    } else if (peer.redial_at <= now) {
      dial(member);
    }
    if (peer.out && peer.out->deadline <= now) {
      lose(member, late("dialling it", peer.why_not));
    }
  }
  std::vector<Connection*> overdue;
  for (const auto& [key, connection] : answered_) {
    if (connection->deadline <= now) overdue.push_back(key);
  }
  for (Connection* const connection : overdue) drop(*connection, late("a handshake"));
}

Result<std::optional<LinkEvent>> TcpMesh::receive(Time deadline) {
  std::array<epoll_event, kEventsAtOnce> ready{};
  const bool sending = waiting_bytes() > 0;
  for (;;) {
    if (has_event()) return std::optional<LinkEvent>(next_event());
    const Time now = clock_.now();
    look_at_time(now);
    if (has_event()) continue;
    const Time until = std::min(deadline, next_due());
    // Rounded up to epoll_wait()'s 1 ms, because a shorter wait would poll until the deadline.
    const auto wait = std::clamp<std::int64_t>(
        std::chrono::ceil<std::chrono::milliseconds>(until - std::min(now, until)).count(), 0,
        60'000);
    const int count = epoll_wait(epoll_.get(), ready.data(), kEventsAtOnce, static_cast<int>(wait));
    if (count < 0 && errno != EINTR) return os_failed("waiting for peers");
    bool woken = false;
    gone_.clear();
    for (int i = 0; i < count; ++i) {
      void* const tag = ready[static_cast<std::size_t>(i)].data.ptr;
      if (tag == nullptr) {
        answer();
      } else if (tag == &waker_) {
        woken = waker_.take();
      } else {
        serve(*static_cast<Connection*>(tag), ready[static_cast<std::size_t>(i)].events);
      }
    }
    const bool sent = sending && waiting_bytes() == 0;
    if (!has_event() && (woken || sent || clock_.now() >= deadline)) {
      return std::optional<LinkEvent>();
    }
  }
}

// Either connection to the member serves, because both measure the same path.
std::optional<double> TcpMesh::round_trip_min_s(ConnectionId member) const {
  if (member >= peers_.size()) return std::nullopt;
  const Peer& peer = peers_[member];
  const Connection* const with = peer.out && !peer.out->connecting ? peer.out.get() : peer.in;
  return with ? tcp_round_trip_min_s(with->file.get()) : std::nullopt;
}

LinkCounters TcpMesh::counters() const {
  LinkCounters all = counters_;
  const auto add = [&all](const Connection& connection) {
    all.wire_bytes_in += connection.channel->bytes_in;
    all.wire_bytes_out += connection.channel->bytes_out;
  };
  for (const Peer& peer : peers_) {
    if (peer.out) add(*peer.out);
  }
  for (const auto& [key, connection] : answered_) add(*connection);
  return all;
}

}  // namespace

Result<std::unique_ptr<Transport>> open_mesh(const MeshPort& port, const MeshOptions& options,
                                             const Clock& clock) {
  if (options.rank >= options.members.size()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "rank in a mesh",
                   .expected = fmt::format("below {}", options.members.size()),
                   .got = fmt::format("{}", options.rank)});
  }
  File epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return os_failed("opening a mesh");
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  auto mesh = std::make_unique<TcpMesh>(port, options, clock, std::move(epoll), std::move(waker));
  TRIBUTARY_TRY(mesh->start());
  return std::unique_ptr<Transport>(std::move(mesh));
}

}  // namespace tributary
