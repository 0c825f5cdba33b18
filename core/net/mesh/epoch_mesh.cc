#include "core/net/mesh/epoch_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

namespace tributary {
namespace {

using Time = std::chrono::nanoseconds;

enum class Kind : std::uint8_t { hello = 1, welcome, piece, goodbye };

struct Trailer {
  std::uint64_t session = 0;
  Kind kind = Kind::hello;
};

// Behind the frame, so that the frame begins where the buffer does, as its numbers need it.
void append(Bytes& frame, const Trailer& trailer) {
  const std::size_t end = frame.size();
  frame.resize(end + kEpochTrailerBytes);
  for (std::size_t i = 0; i < sizeof(trailer.session); ++i) {
    frame[end + i] = static_cast<std::uint8_t>(trailer.session >> (8 * i));
  }
  frame.back() = static_cast<std::uint8_t>(trailer.kind);
}

Result<Trailer> cut_off(Bytes& frame) {
  const bool whole = frame.size() >= kEpochTrailerBytes;
  const std::uint8_t kind = whole ? frame.back() : 0;
  const bool piece = kind == static_cast<std::uint8_t>(Kind::piece);
  if (kind < static_cast<std::uint8_t>(Kind::hello) ||
      kind > static_cast<std::uint8_t>(Kind::goodbye) ||
      piece != (frame.size() > kEpochTrailerBytes)) {
    return Status(StatusCode::corrupt_data,
                  {.what = "a peer's frame",
                   .expected = fmt::format("one that ends in {} bytes of its session and its kind",
                                           kEpochTrailerBytes),
                   .got = fmt::format("{} bytes, the last of them {}", frame.size(), kind)});
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
  return Status(
      StatusCode::unavailable,
      {.what = "a peer's session", .expected = "a member that stays in it", .got = "it has left"});
}

}  // namespace

class EpochMeshes::EpochMesh final : public Mesh {
 public:
  EpochMesh(EpochMeshes& all, EpochMeshOptions options);
  ~EpochMesh() override;
  EpochMesh(const EpochMesh&) = delete;
  EpochMesh& operator=(const EpochMesh&) = delete;

  Status send(std::uint32_t to, Bytes frame, SharedSlice payload) override;
  Result<std::optional<MeshEvent>> receive(Time deadline) override;
  void wake() override { beneath_.wake(); }
  std::size_t waiting_bytes() const override;
  MeshCounters counters() const override;

 private:
  struct Waiting {
    Bytes frame;
    SharedSlice payload;
  };
  struct Member {
    bool asked = false;  // whether it is there
    bool here = false;
    bool lost = false;
    Time give_up_at{Time::max()};
    std::deque<Waiting> waiting;
    std::size_t waiting_bytes = 0;
  };

  Status tell(std::uint32_t member, Kind kind);
  void arrived(std::uint32_t member);
  void take(MeshMessage& message);
  void take_of_session(std::uint32_t member, Kind kind, MeshMessage& message);
  void lose(std::uint32_t member, Status why);
  void look_at_time();
  Time next_due() const;
  std::optional<std::uint32_t> member_of(std::uint32_t rank) const;

  EpochMeshes& all_;
  LastingMesh& beneath_;
  const EpochMeshOptions options_;
  const MeshCounters before_;
  std::vector<std::optional<std::uint32_t>> member_by_rank_;
  std::vector<Member> members_;
  std::deque<MeshEvent> events_;
  std::uint64_t messages_in_ = 0;
  std::uint64_t messages_out_ = 0;
};

EpochMeshes::EpochMesh::EpochMesh(EpochMeshes& all, EpochMeshOptions options)
    : all_(all),
      beneath_(*all.beneath_),
      options_(std::move(options)),
      before_(beneath_.counters()),
      member_by_rank_(all.ranks_.size()),
      members_(options_.members.size()) {
  for (std::uint32_t member = 0; member < members_.size(); ++member) {
    if (member == options_.rank) continue;
    const std::uint32_t rank = options_.members[member];
    member_by_rank_[rank] = member;
    const Rank& known = all_.ranks_[rank];
    if (!known.gone.ok()) {
      lose(member, known.gone);
    } else if (known.greeted == options_.session) {
      arrived(member);
      ignore_error(tell(member, Kind::welcome));  // who cannot be told is lost, which is an event
    }
  }
}

// Those with whom there was anything are told. What was meant for them is of no use any more.
EpochMeshes::EpochMesh::~EpochMesh() {
  for (std::uint32_t member = 0; member < members_.size(); ++member) {
    if (!members_[member].asked && !members_[member].here) continue;
    beneath_.forget(options_.members[member]);
    ignore_error(tell(member, Kind::goodbye));  // who is lost needs none
  }
}

std::optional<std::uint32_t> EpochMeshes::EpochMesh::member_of(std::uint32_t rank) const {
  return rank < member_by_rank_.size() ? member_by_rank_[rank] : std::nullopt;
}

Status EpochMeshes::EpochMesh::tell(std::uint32_t member, Kind kind) {
  Bytes frame;
  append(frame, {.session = options_.session, .kind = kind});
  return beneath_.send(options_.members[member], std::move(frame), {});
}

// --- sending -----------------------------------------------------------------------------------

Status EpochMeshes::EpochMesh::send(std::uint32_t to, Bytes frame, SharedSlice payload) {
  TRIBUTARY_TRY(check_mesh_send({.to = to,
                                 .own_rank = options_.rank,
                                 .members = members_.size(),
                                 .frame_bytes = frame.size(),
                                 .payload_bytes = payload.size()},
                                {.frame_bytes_max = options_.frame_bytes_max,
                                 .payload_bytes_max = options_.payload_bytes_max}));
  Member& member = members_[to];
  const std::uint32_t rank = options_.members[to];
  if (member.lost) {
    return Status(StatusCode::unavailable, {.what = fmt::format("member {}", to),
                                            .expected = "one that is there",
                                            .got = "it is lost"});
  }
  append(frame, {.session = options_.session, .kind = Kind::piece});
  const std::size_t bytes = frame.size() + payload.size();
  const std::size_t queued = member.waiting_bytes + beneath_.waiting_bytes_for(rank);
  if (queued + bytes > options_.send_queue_bytes) {
    return Status(StatusCode::resource_exhausted,
                  {.what = fmt::format("what waits for member {}", to),
                   .expected = fmt::format("at most {} bytes", options_.send_queue_bytes),
                   .got = fmt::format("{} more than {}", bytes, queued),
                   .remedy = "try again after the next event"});
  }
  if (!member.here && !std::exchange(member.asked, true)) {
    TRIBUTARY_TRY(tell(to, Kind::hello));
    member.give_up_at = all_.clock_.now() + options_.connect_max;
  }
  ++messages_out_;
  if (member.here) return beneath_.send(rank, std::move(frame), std::move(payload));
  member.waiting_bytes += bytes;
  member.waiting.push_back({.frame = std::move(frame), .payload = std::move(payload)});
  return {};
}

// It has said something of this session.
void EpochMeshes::EpochMesh::arrived(std::uint32_t number) {
  Member& member = members_[number];
  if (member.lost || std::exchange(member.here, true)) return;
  member.give_up_at = Time::max();
  for (Waiting& one : std::exchange(member.waiting, {})) {
    member.waiting_bytes -= one.frame.size() + one.payload.size();
    Status sent =
        beneath_.send(options_.members[number], std::move(one.frame), std::move(one.payload));
    if (!sent.ok()) return lose(number, std::move(sent));
  }
}

// --- receiving ---------------------------------------------------------------------------------

void EpochMeshes::EpochMesh::take(MeshMessage& message) {
  Rank& sender = all_.ranks_[message.from];
  const std::optional<std::uint32_t> member = member_of(message.from);
  const Result<Trailer> trailer = cut_off(message.frame);
  if (!trailer.ok()) {
    if (member) lose(*member, trailer.status());
    return;
  }
  sender.greeted = trailer->kind == Kind::goodbye ? 0 : trailer->session;
  if (!member) return;
  if (trailer->session == options_.session) return take_of_session(*member, trailer->kind, message);
  if (members_[*member].here) lose(*member, has_left());
}

void EpochMeshes::EpochMesh::take_of_session(std::uint32_t number, Kind kind,
                                             MeshMessage& message) {
  Member& member = members_[number];
  if (kind == Kind::goodbye) return lose(number, has_left());
  arrived(number);
  if (member.lost) return;
  if (kind == Kind::hello) {
    if (Status told = tell(number, Kind::welcome); !told.ok()) lose(number, std::move(told));
  } else if (kind == Kind::piece) {
    ++messages_in_;
    events_.emplace_back(MeshMessage{
        .from = number, .frame = std::move(message.frame), .payload = std::move(message.payload)});
  }
}

void EpochMeshes::EpochMesh::lose(std::uint32_t number, Status why) {
  Member& member = members_[number];
  if (std::exchange(member.lost, true)) return;
  std::size_t unsent = std::exchange(member.waiting_bytes, 0);
  member.waiting.clear();
  member.give_up_at = Time::max();
  unsent += beneath_.forget(options_.members[number]);
  events_.emplace_back(MeshLost{.member = number,
                                .why = std::move(why).at(fmt::format("member {}", number)),
                                .unsent_bytes = unsent});
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

Result<std::optional<MeshEvent>> EpochMeshes::EpochMesh::receive(Time deadline) {
  for (;;) {
    look_at_time();
    if (!events_.empty()) {
      MeshEvent event = std::move(events_.front());
      events_.pop_front();
      return std::optional<MeshEvent>(std::move(event));
    }
    const Time due = next_due();
    TRIBUTARY_ASSIGN(std::optional<MeshEvent> came, beneath_.receive(std::min(deadline, due)));
    if (!came) {
      // Its own deadline, or somebody has called: all but a member that is given up.
      if (all_.clock_.now() < due) return std::optional<MeshEvent>();
    } else if (auto* const message = std::get_if<MeshMessage>(&*came)) {
      take(*message);
    } else if (auto* const lost = std::get_if<MeshLost>(&*came)) {
      all_.ranks_[lost->member].gone = lost->why;
      if (const auto member = member_of(lost->member)) lose(*member, std::move(lost->why));
    } else {
      return came;
    }
  }
}

std::size_t EpochMeshes::EpochMesh::waiting_bytes() const {
  std::size_t bytes = beneath_.waiting_bytes();
  for (const Member& member : members_) bytes += member.waiting_bytes;
  return bytes;
}

MeshCounters EpochMeshes::EpochMesh::counters() const {
  const MeshCounters now = beneath_.counters();
  return {.messages_in = messages_in_,
          .messages_out = messages_out_,
          .bytes_in = now.bytes_in - before_.bytes_in,
          .bytes_out = now.bytes_out - before_.bytes_out,
          .refused = now.refused - before_.refused};
}

EpochMeshes::EpochMeshes(std::unique_ptr<LastingMesh> beneath, std::uint32_t rank,
                         std::uint32_t ranks, const Clock& clock)
    : beneath_(std::move(beneath)), rank_(rank), clock_(clock), ranks_(ranks) {}

EpochMeshes::~EpochMeshes() = default;

Result<std::unique_ptr<Mesh>> EpochMeshes::open(const EpochMeshOptions& options) {
  std::vector<std::uint32_t> sorted = options.members;
  std::ranges::sort(sorted);
  const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
  const bool known = !sorted.empty() && sorted.back() < ranks_.size();
  if (twice || !known || options.session == 0 || options.rank >= options.members.size() ||
      options.members[options.rank] != rank_) {
    return Status(StatusCode::mismatch,
                  {.what = "the members of an epoch",
                   .expected = fmt::format("each rank once, below {}, and this one's rank {} as "
                                           "member {}",
                                           ranks_.size(), rank_, options.rank),
                   .got = fmt::format("ranks {}", fmt::join(options.members, ", ")),
                   .remedy = "it has to wait for the next membership"});
  }
  return std::unique_ptr<Mesh>(std::make_unique<EpochMesh>(*this, options));
}

}  // namespace tributary
