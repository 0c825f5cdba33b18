#include "core/net/mpi/mpi_mesh.h"

#include <fmt/format.h>
#include <mpi.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "core/net/buffer_pool.h"
#include "core/net/message_queue.h"
#include "core/net/mpi/mpi_error.h"
#include "core/net/waker.h"

namespace tributary {
namespace {

using Time = std::chrono::nanoseconds;

// MPI tags of the two kinds of messages.
constexpr int kFrameTag = 1;
constexpr int kPayloadTag = 2;
constexpr std::size_t kTrailerBytes = 4;  // behind a frame: the size of its payload
// MPI tests every posted message in each of its calls, so their number is bounded.
constexpr std::size_t kPostedMax = 16;  // per member
constexpr int kFramesAtOnce = 64;       // bound per call, so that sending is not delayed
// Bound on the free buffers that the pool keeps, in bytes.
constexpr std::size_t kSpareBytesMax = 32u << 20;

// Number of polls that only yield the processor before the first sleep. A poll costs about a
// microsecond, and ranks that share a core need that time for their work. With four ranks on two
// cores, an exchange takes about the same time with 0, 50 and 1000 yields.
constexpr std::uint32_t kYields = 50;
// Range of the sleep between two polls.
constexpr Time kSleepMin = std::chrono::microseconds(20);
constexpr Time kSleepMax = std::chrono::milliseconds(1);

// The pause between two polls without progress: first it yields, then it sleeps, longer each time.
class Rest {
 public:
  void again() { fruitless_ = 0; }
  void take(const Waker& waker, Time most) {
    if (fruitless_++ < kYields) {
      ::sched_yield();
      return;
    }
    // The sleep is at most 2^16 times kSleepMin, which is more than kSleepMax.
    const std::uint32_t doubled = std::min(fruitless_ - kYields - 1, 16u);
    const Time time = std::clamp(std::min(kSleepMin * (1 << doubled), kSleepMax), Time(0), most);
    const timespec limit = {.tv_sec = 0, .tv_nsec = time.count()};
    // wake() ends the sleep early, because the waker's file becomes readable.
    ::pollfd watched = {.fd = waker.file(), .events = POLLIN, .revents = 0};
    ::ppoll(&watched, 1, &limit, nullptr);
  }

 private:
  std::uint32_t fruitless_ = 0;
};

// A message to a member and MPI's requests for its two parts.
struct Outgoing {
  Bytes frame;  // with its trailer; empty: this member leaves
  SharedSlice payload;
  MPI_Request frame_sent = MPI_REQUEST_NULL;
  MPI_Request payload_sent = MPI_REQUEST_NULL;
};

// A message from a member, of which the frame has arrived.
struct Incoming {
  Bytes frame;  // empty: the sender leaves
  std::uint32_t payload_bytes = 0;
  Bytes payload;
  bool matched = false;  // its payload is being received, or it has none
  MPI_Request payload_came = MPI_REQUEST_NULL;
};

// MPI keeps the order of messages with one tag between two ranks, so frames and payloads are
// matched by their order. MPI reads and writes the buffers in these queues until their requests are
// complete.
struct Peer {
  MessageQueue<Outgoing> waiting;  // not posted to MPI yet
  MessageQueue<Outgoing> posted;   // posted to MPI and not sent yet
  std::deque<Incoming> coming;     // frames in their order, until their payloads have arrived
  bool left = false;               // its farewell has arrived
  bool broken = false;             // it violated the format: its payloads are not received any more
};

class MpiMesh final : public PeerTransport {
 public:
  MpiMesh(MpiSession& session, const MpiMeshOptions& options, const Clock& clock, MPI_Comm comm,
          Waker waker)
      : PeerTransport(options.limits, {.count = session.size(), .own_rank = session.rank()}, 0),
        session_(session),
        options_(options),
        clock_(clock),
        comm_(comm),
        waker_(std::move(waker)),
        peers_(session.size()) {}
  ~MpiMesh() override;
  MpiMesh(const MpiMesh&) = delete;
  MpiMesh& operator=(const MpiMesh&) = delete;

  Result<std::optional<LinkEvent>> receive(Time deadline) override;
  void wake() override {
    woken_.store(true);
    waker_.signal();
  }
  bool encrypted() const override { return false; }
  // Messages that are posted to a lost member stay with MPI and are not counted any more.
  std::size_t waiting_bytes_for(ConnectionId member) const override {
    const Peer& peer = peers_[member];
    return lost(member) ? 0 : peer.waiting.bytes() + peer.posted.bytes();
  }
  std::size_t forget(ConnectionId member) override { return peers_[member].waiting.clear(); }

 private:
  Status accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) override;
  Result<bool> progress();
  bool send_on(std::uint32_t member);
  Status post(std::uint32_t member, Outgoing& message);
  Result<bool> post_waiting(std::uint32_t member);
  Result<bool> take_frames();
  Status take_frame(MPI_Message message, std::uint32_t from, std::size_t bytes);
  Status distrust(std::uint32_t member, Fault fault);
  Result<bool> match_payloads(std::uint32_t member);
  bool take_in(std::uint32_t member);
  void deliver(std::uint32_t member, Incoming& message);
  void lose(std::uint32_t member, Status why);
  bool all_left() const;

  MpiSession& session_;
  const MpiMeshOptions options_;
  const Clock& clock_;
  MPI_Comm comm_;
  Waker waker_;
  std::atomic<bool> woken_{false};
  BufferPool pool_{kSpareBytesMax};
  std::vector<Peer> peers_;
  // Bytes of payloads that are announced and not delivered yet, over all members.
  std::size_t coming_bytes_ = 0;
};

// --- sending -----------------------------------------------------------------------------------

Status MpiMesh::accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) {
  const std::size_t bytes = frame.size() + payload.size();
  const auto payload_bytes = static_cast<std::uint32_t>(payload.size());
  // The trailer is behind the frame, so that the frame keeps the alignment of the buffer, which its
  // numbers need.
  Bytes whole(frame.size() + kTrailerBytes);
  std::ranges::copy(frame.view(), whole.begin());
  std::memcpy(whole.data() + frame.size(), &payload_bytes, kTrailerBytes);
  peers_[to].waiting.push({.frame = std::move(whole), .payload = std::move(payload)}, bytes);
  if (Result<bool> posted = post_waiting(to); !posted.ok()) lose(to, std::move(posted).status());
  return {};
}

// Passes both parts to MPI, which reads them until the requests are complete.
Status MpiMesh::post(std::uint32_t member, Outgoing& message) {
  const int to = static_cast<int>(member);
  TRIBUTARY_TRY(mpi_status(MPI_Isend(message.frame.data(), static_cast<int>(message.frame.size()),
                                     MPI_BYTE, to, kFrameTag, comm_, &message.frame_sent),
                           "sending a frame"));
  const ByteSpan payload = message.payload.view();
  if (payload.empty()) return {};
  return mpi_status(MPI_Isend(payload.data(), static_cast<int>(payload.size()), MPI_BYTE, to,
                              kPayloadTag, comm_, &message.payload_sent),
                    "sending a payload");
}

// Posts waiting messages up to the bound. Returns whether any was posted.
Result<bool> MpiMesh::post_waiting(std::uint32_t member) {
  Peer& peer = peers_[member];
  bool moved = false;
  while (!peer.waiting.empty() && peer.posted.size() < kPostedMax) {
    const std::size_t bytes = peer.waiting.front_bytes();
    TRIBUTARY_TRY(post(member, peer.posted.push(peer.waiting.pop(), bytes)));
    moved = true;
  }
  return moved;
}

// A completed request is null, and so is one that was never made.
Result<bool> done(MPI_Request& request) {
  int yes = 1;
  if (request == MPI_REQUEST_NULL) return true;
  TRIBUTARY_TRY(mpi_status(MPI_Test(&request, &yes, MPI_STATUS_IGNORE), "sending or receiving"));
  return yes != 0;
}

// Removes sent messages from the member's queue and posts the next ones. Returns whether anything
// has changed.
bool MpiMesh::send_on(std::uint32_t member) {
  Peer& peer = peers_[member];
  bool moved = false;
  while (!peer.posted.empty()) {
    Outgoing& message = peer.posted.front();
    Result<bool> sent = done(message.frame_sent);
    if (sent.ok() && *sent) sent = done(message.payload_sent);
    if (sent.ok() && !*sent) break;
    if (!sent.ok()) lose(member, std::move(sent).status());
    counters_.wire_bytes_out += peer.posted.front_bytes();
    peer.posted.pop();
    moved = true;
  }
  Result<bool> posted = post_waiting(member);
  if (!posted.ok()) {
    lose(member, std::move(posted).status());
    return true;
  }
  return moved || *posted;
}

// --- receiving ---------------------------------------------------------------------------------

// Takes frames that have arrived, but not more than the bound on announced payloads allows.
Result<bool> MpiMesh::take_frames() {
  bool moved = false;
  for (int n = 0; n < kFramesAtOnce && coming_bytes_ < options_.receive_bytes_max; ++n) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status = {};
    TRIBUTARY_TRY(mpi_status(
        MPI_Improbe(MPI_ANY_SOURCE, kFrameTag, comm_, &found, &message, &status), "asking MPI"));
    if (found == 0) break;
    moved = true;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const auto from = static_cast<std::uint32_t>(status.MPI_SOURCE);
    if (Status taken = take_frame(message, from, static_cast<std::size_t>(bytes)); !taken.ok()) {
      lose(from, std::move(taken));
    }
  }
  return moved;
}

// A message that is too long is not received. MPI promises an error if a message is longer than the
// buffer, but Open MPI 4.1.4 reports it only after it has written the rest behind the buffer.
Status MpiMesh::take_frame(MPI_Message message, std::uint32_t from, std::size_t bytes) {
  const bool leaves = bytes == 0;
  if (!leaves &&
      (bytes <= kTrailerBytes || bytes > options_.limits.frame_bytes_max + kTrailerBytes)) {
    return distrust(
        from, {.what = "a peer's frame",
               .expected = fmt::format("1 to {} bytes", options_.limits.frame_bytes_max),
               .got = fmt::format("{} with {} for the payload's length", bytes, kTrailerBytes)});
  }
  Incoming incoming;
  // The frame has arrived, so this call returns at once.
  incoming.frame.resize(bytes);
  TRIBUTARY_TRY(mpi_status(MPI_Mrecv(incoming.frame.data(), static_cast<int>(bytes), MPI_BYTE,
                                     &message, MPI_STATUS_IGNORE),
                           "receiving a frame"));
  if (!leaves) {
    incoming.frame.resize(bytes - kTrailerBytes);
    std::memcpy(&incoming.payload_bytes, incoming.frame.data() + incoming.frame.size(),
                kTrailerBytes);
  }
  if (incoming.payload_bytes > options_.limits.payload_bytes_max) {
    return distrust(from,
                    {.what = "a peer's payload",
                     .expected = fmt::format("at most {} bytes", options_.limits.payload_bytes_max),
                     .got = fmt::format("{}", incoming.payload_bytes)});
  }
  incoming.matched = incoming.payload_bytes == 0;
  coming_bytes_ += incoming.payload_bytes;
  peers_[from].coming.push_back(std::move(incoming));
  return {};
}

// Starts to receive the payloads that have arrived for announced frames.
Result<bool> MpiMesh::match_payloads(std::uint32_t member) {
  Peer& peer = peers_[member];
  bool moved = false;
  for (Incoming& incoming : peer.coming) {
    if (incoming.matched) continue;
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status = {};
    TRIBUTARY_TRY(mpi_status(
        MPI_Improbe(static_cast<int>(member), kPayloadTag, comm_, &found, &message, &status),
        "asking MPI"));
    if (found == 0) break;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (static_cast<std::uint32_t>(bytes) != incoming.payload_bytes) {
      return distrust(
          member, {.what = "a peer's payload",
                   .expected = fmt::format("{} bytes, as its frame says", incoming.payload_bytes),
                   .got = fmt::format("{}", bytes)});
    }
    incoming.payload = pool_.take(incoming.payload_bytes);
    TRIBUTARY_TRY(mpi_status(
        MPI_Imrecv(incoming.payload.data(), bytes, MPI_BYTE, &message, &incoming.payload_came),
        "receiving a payload"));
    incoming.matched = true;
    moved = true;
  }
  return moved;
}

// Delivers the member's messages whose payloads have arrived, in their order.
bool MpiMesh::take_in(std::uint32_t member) {
  Peer& peer = peers_[member];
  bool moved = false;
  if (!peer.broken) {
    Result<bool> matched = match_payloads(member);
    moved = !matched.ok() || *matched;
    if (!matched.ok()) lose(member, std::move(matched).status());
  }
  while (!peer.coming.empty()) {
    Incoming& message = peer.coming.front();
    if (!message.matched && !peer.broken) break;
    Result<bool> whole = done(message.payload_came);
    if (whole.ok() && !*whole) break;
    moved = true;
    coming_bytes_ -= message.payload_bytes;
    if (!whole.ok()) {
      lose(member, std::move(whole).status());
    } else if (message.matched) {
      deliver(member, message);
    }
    peer.coming.pop_front();
  }
  return moved;
}

// Reports a complete message, or the member's farewell.
void MpiMesh::deliver(std::uint32_t member, Incoming& message) {
  Peer& peer = peers_[member];
  if (message.frame.empty()) {
    // Messages that the member received before it left must not be reported as unsent.
    send_on(member);
    peer.left = true;
    return lose(member, Status(StatusCode::unavailable, {.what = "a mesh over MPI",
                                                         .expected = "a member of the mesh",
                                                         .got = "the member has left"}));
  }
  counters_.wire_bytes_in += message.frame.size() + message.payload.size();
  // Frames of a lost member are still received, because it could not leave otherwise.
  if (lost(member)) return;
  Received whole = {
      .connection = member, .peer = {}, .frame = std::move(message.frame), .payload = {}};
  if (!message.payload.empty()) whole.payload = pool_.share(std::move(message.payload));
  report(std::move(whole));
}

// A member that violates the format is not trusted any more. The session stays usable for the
// others.
Status MpiMesh::distrust(std::uint32_t member, Fault fault) {
  peers_[member].broken = true;
  return {StatusCode::corrupt_data, std::move(fault)};
}

// --- both, and ends ------------------------------------------------------------------------------

// One poll: sends, receives and delivers what MPI has completed. Returns whether anything has
// changed.
Result<bool> MpiMesh::progress() {
  bool moved = false;
  for (std::uint32_t member = 0; member < peers_.size(); ++member) moved |= send_on(member);
  TRIBUTARY_ASSIGN(const bool received, take_frames());
  moved |= received;
  for (std::uint32_t member = 0; member < peers_.size(); ++member) moved |= take_in(member);
  return moved;
}

// Reports the loss of a member once, with the bytes that were not sent to it.
void MpiMesh::lose(std::uint32_t member, Status why) {
  if (lost(member)) return;
  const std::size_t unsent = waiting_bytes_for(member);
  forget(member);
  report_lost(member, {}, std::move(why), unsent);
}

Result<std::optional<LinkEvent>> MpiMesh::receive(Time deadline) {
  const bool sending = waiting_bytes() > 0;
  Rest rest;
  for (;;) {
    if (has_event()) return std::optional<LinkEvent>(next_event());
    TRIBUTARY_ASSIGN(const bool moved, progress());
    if (has_event()) continue;
    if (woken_.exchange(false)) {
      waker_.take();
      return std::optional<LinkEvent>();
    }
    const Time now = clock_.now();
    if (now >= deadline || (sending && waiting_bytes() == 0)) return std::optional<LinkEvent>();
    if (moved) {
      rest.again();
    } else {
      rest.take(waker_, deadline - now);
    }
  }
}

// Whether all members have left and no transfer is unfinished, so that MPI reads and writes none of
// this object's buffers.
bool MpiMesh::all_left() const {
  for (std::uint32_t member = 0; member < peers_.size(); ++member) {
    const Peer& peer = peers_[member];
    if (member == session_.rank()) continue;
    if (!peer.left || !peer.posted.empty() || !peer.coming.empty()) return false;
  }
  return true;
}

// Sends a farewell to every member, then serves the transfers until all members have left or
// leave_max has passed. Events are dropped, because the owner is gone.
MpiMesh::~MpiMesh() {
  for (std::uint32_t member = 0; member < peers_.size(); ++member) {
    if (member == session_.rank()) continue;
    Peer& peer = peers_[member];
    peer.waiting.clear();
    if (Status status = post(member, peer.posted.push({}, 0)); !status.ok())
      peer.posted.drop_last();
  }
  const Time deadline = clock_.now() + options_.leave_max;
  Rest rest;
  while (!all_left() && clock_.now() < deadline) {
    const Result<bool> moved = progress();
    while (has_event()) next_event();
    if (!moved.ok()) break;
    if (*moved) rest.again();
    rest.take(waker_, kSleepMax);
  }
  if (all_left()) {
    // A communicator that still holds messages must not be freed.
    if (std::ranges::none_of(peers_, &Peer::broken)) MPI_Comm_free(&comm_);
  } else {
    session_.abandon(std::make_shared<std::vector<Peer>>(std::move(peers_)));
  }
}

// Duplicates the world communicator. All ranks do it together, so the call polls with a deadline
// instead of blocking.
Result<MPI_Comm> own_communicator(MpiSession& session, const MpiMeshOptions& options,
                                  const Clock& clock, const Waker& waker) {
  const auto comm = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  TRIBUTARY_TRY(
      mpi_status(MPI_Comm_idup(MPI_COMM_WORLD, comm.get(), &request), "opening a mesh over MPI"));
  const Time deadline = clock.now() + options.open_max;
  Rest rest;
  for (;;) {
    TRIBUTARY_ASSIGN(const bool made, done(request));
    if (made) return *comm;
    if (clock.now() >= deadline) break;
    rest.take(waker, kSleepMax);
  }
  session.abandon(comm);
  return Status(StatusCode::deadline_exceeded,
                {.what = "opening a mesh over MPI",
                 .expected = fmt::format("all {} ranks", session.size()),
                 .got = "some ranks are missing",
                 .remedy = "every rank must run the same program with the same options"});
}

}  // namespace

Result<std::unique_ptr<PeerTransport>> open_mpi_mesh(MpiSession& session,
                                                     const MpiMeshOptions& options,
                                                     const Clock& clock) {
  constexpr std::size_t kBytesMax = std::numeric_limits<int>::max() - kTrailerBytes;
  if (options.limits.frame_bytes_max > kBytesMax || options.limits.payload_bytes_max > kBytesMax ||
      options.receive_bytes_max == 0) {
    return Status(
        StatusCode::invalid_argument,
        {.what = "caps of a mesh over MPI",
         .expected = fmt::format("at most {} bytes of a frame and of a payload, and "
                                 "memory to receive one",
                                 kBytesMax),
         .got = fmt::format("{}, {} and {}", options.limits.frame_bytes_max,
                            options.limits.payload_bytes_max, options.receive_bytes_max)});
  }
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  TRIBUTARY_ASSIGN(const MPI_Comm comm, own_communicator(session, options, clock, waker));
  return std::unique_ptr<PeerTransport>(
      std::make_unique<MpiMesh>(session, options, clock, comm, std::move(waker)));
}

}  // namespace tributary
