#include "core/net/mesh/epoch_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "core/net/message_queue.h"

namespace tributary {
namespace {

using Time = std::chrono::nanoseconds;

// The values are part of the format.
enum class Kind : std::uint8_t { hello = 1, welcome, piece, goodbye };

// The bytes behind every frame.
struct Trailer {
  std::uint64_t session = 0;
  Kind kind = Kind::hello;
};

// The trailer is behind the frame, so that the frame keeps the alignment of the buffer, which its
// numbers need.
void append(Bytes& frame, const Trailer& trailer) {
  const std::size_t end = frame.size();
  frame.resize(end + kEpochTrailerBytes);
  for (std::size_t i = 0; i < sizeof(trailer.session); ++i) {
    frame[end + i] = static_cast<std::uint8_t>(trailer.session >> (8 * i));
  }
  frame.back() = static_cast<std::uint8_t>(trailer.kind);
}

// Removes the trailer from the frame. Returns corrupt_data if the frame has none or if its kind and
// its size contradict each other.
Result<Trailer> cut_off(Bytes& frame) {
  const bool whole = frame.size() >= kEpochTrailerBytes;
  const std::uint8_t kind = whole ? frame.back() : 0;
  const bool piece = kind == static_cast<std::uint8_t>(Kind::piece);
  if (kind < static_cast<std::uint8_t>(Kind::hello) ||
      kind > static_cast<std::uint8_t>(Kind::goodbye) ||
      piece != (frame.size() > kEpochTrailerBytes)) {
    return Status(
        StatusCode::corrupt_data,
        {.what = "a peer's frame",
         .expected = fmt::format("a frame that ends in {} bytes with its session and its kind",
                                 kEpochTrailerBytes),
         .got = fmt::format("{} bytes that end in {}", frame.size(), kind)});
  }
  Trailer trailer{.session = 0, .kind = static_cast<Kind>(kind)};
  const std::size_t end = frame.size() - kEpochTrailerBytes;
  for (std::size_t i = 0; i < sizeof(trailer.session); ++i) {
    trailer.session |= static_cast<std::uint64_t>(frame[end + i]) << (8 * i);
  }
  frame.resize(end);
  return trailer;
}

Status has_left() {
  return Status(StatusCode::unavailable, {.what = "a peer's session",
                                          .expected = "a member of this epoch",
                                          .got = "the member has left"});
}

}  // namespace

class EpochMeshes::EpochMesh final : public PeerTransport {
 public:
  EpochMesh(EpochMeshes& all, EpochMeshOptions options);
  ~EpochMesh() override;
  EpochMesh(const EpochMesh&) = delete;
  EpochMesh& operator=(const EpochMesh&) = delete;

  Result<std::optional<LinkEvent>> receive(Time deadline) override;
  void wake() override { beneath_.wake(); }
  bool encrypted() const override { return beneath_.encrypted(); }
  LinkCounters counters() const override;
  std::size_t waiting_bytes() const override;
  std::size_t waiting_bytes_for(ConnectionId member) const override {
    return members_[member].waiting.bytes() + beneath_.waiting_bytes_for(options_.members[member]);
  }
  std::size_t forget(ConnectionId member) override {
    return members_[member].waiting.clear() + beneath_.forget(options_.members[member]);
  }

 private:
  struct Waiting {
    Bytes frame;
    SharedSlice payload;
  };
  struct Member {
    bool asked = false;             // a hello was sent
    bool here = false;              // a frame of this session has arrived from it
    Time give_up_at{Time::max()};   // set when the hello is sent
    MessageQueue<Waiting> waiting;  // messages until the member is here
  };

  Status accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) override;
  Status say(std::uint32_t member, Kind kind);
  void arrived(std::uint32_t member);
  void take(Received& message);
  void take_of_session(std::uint32_t member, Kind kind, Received& message);
  void lose(std::uint32_t member, Status why);
  void look_at_time();
  Time next_due() const;
  std::optional<std::uint32_t> member_of(ConnectionId rank) const;

  EpochMeshes& all_;
  PeerTransport& beneath_;
  const EpochMeshOptions options_;
  const LinkCounters before_;  // the mesh's counters when the epoch began
  // The member of each rank of the mesh; empty for ranks outside the epoch.
  std::vector<std::optional<std::uint32_t>> member_by_rank_;
  std::vector<Member> members_;
};

EpochMeshes::EpochMesh::EpochMesh(EpochMeshes& all, EpochMeshOptions options)
    : PeerTransport(
          options.limits,
          {.count = static_cast<std::uint32_t>(options.members.size()), .own_rank = options.rank},
          kEpochTrailerBytes),
      all_(all),
      beneath_(*all.beneath_),
      options_(std::move(options)),
      before_(beneath_.counters()),
      member_by_rank_(all.ranks_.size()),
      members_(options_.members.size()) {
  for (std::uint32_t member = 0; member < members_.size(); ++member) {
    if (member == options_.rank) continue;
    const std::uint32_t rank = options_.members[member];
    member_by_rank_[rank] = member;
    // Frames of this session may have arrived before it was opened here, so the state of the rank
    // is used.
    const Rank& known = all_.ranks_[rank];
    if (!known.gone.ok()) {
      lose(member, known.gone);
    } else if (known.greeted == options_.session) {
      arrived(member);
      // An error means that the member is lost, which an event reports.
      ignore_error(say(member, Kind::welcome));
    }
  }
}

// Informs all members with which frames were exchanged. Messages that still wait for them are
// useless after the epoch.
EpochMeshes::EpochMesh::~EpochMesh() {
  for (std::uint32_t member = 0; member < members_.size(); ++member) {
    if (!members_[member].asked && !members_[member].here) continue;
    beneath_.forget(options_.members[member]);
    ignore_error(say(member, Kind::goodbye));  // a lost member needs none
  }
}

std::optional<std::uint32_t> EpochMeshes::EpochMesh::member_of(ConnectionId rank) const {
  return rank < member_by_rank_.size() ? member_by_rank_[rank] : std::nullopt;
}

Status EpochMeshes::EpochMesh::say(std::uint32_t member, Kind kind) {
  Bytes frame;
  append(frame, {.session = options_.session, .kind = kind});
  return beneath_.send(options_.members[member], std::move(frame), {});
}

// --- sending -----------------------------------------------------------------------------------

// Sends a hello before the first message, and keeps messages until the member has shown that it is
// in the session.
Status EpochMeshes::EpochMesh::accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) {
  Member& member = members_[to];
  if (!member.here && !std::exchange(member.asked, true)) {
    TRIBUTARY_TRY(say(to, Kind::hello));
    member.give_up_at = all_.clock_.now() + options_.connect_max;
  }
  const ByteSpan content = frame.view();
  Bytes whole;
  whole.reserve(content.size() + kEpochTrailerBytes);
  whole.assign(content.begin(), content.end());
  append(whole, {.session = options_.session, .kind = Kind::piece});
  if (member.here) return beneath_.send(options_.members[to], std::move(whole), std::move(payload));
  const std::size_t bytes = whole.size() + payload.size();
  member.waiting.push({.frame = std::move(whole), .payload = std::move(payload)}, bytes);
  return {};
}

// A frame of this session has arrived from the member, so the messages that wait for it can be
// sent.
void EpochMeshes::EpochMesh::arrived(std::uint32_t number) {
  Member& member = members_[number];
  if (lost(number) || std::exchange(member.here, true)) return;
  member.give_up_at = Time::max();
  while (!member.waiting.empty()) {
    Waiting message = member.waiting.pop();
    Status sent = beneath_.send(options_.members[number], std::move(message.frame),
                                std::move(message.payload));
    if (!sent.ok()) return lose(number, std::move(sent));
  }
}

// --- receiving ---------------------------------------------------------------------------------

// Updates the sender's session, also for ranks outside the epoch, and passes on frames of this
// session.
void EpochMeshes::EpochMesh::take(Received& message) {
  Rank& sender = all_.ranks_[message.connection];
  const std::optional<std::uint32_t> member = member_of(message.connection);
  const Result<Trailer> trailer = cut_off(message.frame);
  if (!trailer.ok()) {
    if (member) lose(*member, trailer.status());
    return;
  }
  sender.greeted = trailer->kind == Kind::goodbye ? 0 : trailer->session;
  if (!member) return;
  if (trailer->session == options_.session) return take_of_session(*member, trailer->kind, message);
  // A frame of another session shows that the member has left this one.
  if (members_[*member].here) lose(*member, has_left());
}

void EpochMeshes::EpochMesh::take_of_session(std::uint32_t number, Kind kind, Received& message) {
  if (kind == Kind::goodbye) return lose(number, has_left());
  arrived(number);
  if (lost(number)) return;
  if (kind == Kind::hello) {
    if (Status welcomed = say(number, Kind::welcome); !welcomed.ok())
      lose(number, std::move(welcomed));
  } else if (kind == Kind::piece) {
    message.connection = number;
    report(std::move(message));
  }
}

void EpochMeshes::EpochMesh::lose(std::uint32_t number, Status why) {
  if (lost(number)) return;
  members_[number].give_up_at = Time::max();
  report_lost(number, {}, std::move(why), forget(number));
}

void EpochMeshes::EpochMesh::look_at_time() {
  const Time now = all_.clock_.now();
  for (std::uint32_t member = 0; member < members_.size(); ++member) {
    if (now < members_[member].give_up_at) continue;
    lose(member,
         Status(StatusCode::deadline_exceeded,
                {.what = "a peer's session",
                 .expected = fmt::format("an answer within {} ms", options_.connect_max.count()),
                 .got = "none: it is not in this epoch"}));
  }
}

Time EpochMeshes::EpochMesh::next_due() const {
  Time due = Time::max();
  for (const Member& member : members_) due = std::min(due, member.give_up_at);
  return due;
}

Result<std::optional<LinkEvent>> EpochMeshes::EpochMesh::receive(Time deadline) {
  for (;;) {
    look_at_time();
    if (has_event()) return std::optional<LinkEvent>(next_event());
    const Time due = next_due();
    TRIBUTARY_ASSIGN(std::optional<LinkEvent> event, beneath_.receive(std::min(deadline, due)));
    if (!event) {
      // The caller's deadline has passed or wake() was called, unless a member's deadline is due.
      if (all_.clock_.now() < due) return std::optional<LinkEvent>();
    } else if (auto* const message = std::get_if<Received>(&*event)) {
      take(*message);
    } else if (auto* const lost = std::get_if<Disconnected>(&*event)) {
      all_.ranks_[lost->connection].gone = lost->why;
      if (const auto member = member_of(lost->connection)) lose(*member, std::move(lost->why));
    } else {
      return event;
    }
  }
}

std::size_t EpochMeshes::EpochMesh::waiting_bytes() const {
  std::size_t bytes = beneath_.waiting_bytes();
  for (const Member& member : members_) bytes += member.waiting.bytes();
  return bytes;
}

// Bytes on the wire and connections are those of the mesh since the epoch began. Messages are
// counted here, because the mesh also counts hellos and welcomes.
LinkCounters EpochMeshes::EpochMesh::counters() const {
  const LinkCounters beneath = beneath_.counters() - before_;
  LinkCounters all = counters_;
  all.wire_bytes_in = beneath.wire_bytes_in;
  all.wire_bytes_out = beneath.wire_bytes_out;
  all.connections = beneath.connections;
  all.refused = beneath.refused;
  return all;
}

EpochMeshes::EpochMeshes(std::unique_ptr<PeerTransport> beneath, const Clock& clock)
    : beneath_(std::move(beneath)), clock_(clock), ranks_(beneath_->members().count) {}

EpochMeshes::~EpochMeshes() = default;

Result<std::unique_ptr<Transport>> EpochMeshes::open(const EpochMeshOptions& options) {
  const std::uint32_t rank = beneath_->members().own_rank;
  std::vector<std::uint32_t> sorted = options.members;
  std::ranges::sort(sorted);
  const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
  const bool known = !sorted.empty() && sorted.back() < ranks_.size();
  if (twice || !known || options.session == 0 || options.rank >= options.members.size() ||
      options.members[options.rank] != rank) {
    return Status(StatusCode::mismatch,
                  {.what = "the members of an epoch",
                   .expected = fmt::format("each rank once, below {}, and this one's rank {} as "
                                           "member {}",
                                           ranks_.size(), rank, options.rank),
                   .got = fmt::format("ranks {}", fmt::join(options.members, ", ")),
                   .remedy = "the member must wait for the next membership"});
  }
  return std::unique_ptr<Transport>(std::make_unique<EpochMesh>(*this, options));
}

}  // namespace tributary
