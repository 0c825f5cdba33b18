#include "core/net/shaped/shaped_mesh.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/net/waker.h"

namespace tributary {
namespace {

using Time = std::chrono::nanoseconds;

// How soon a message that the inner mesh had no room for is tried again.
constexpr Time kMeshRetryAfter = std::chrono::milliseconds(1);
// What is lost is sent again, but not for ever on a line that loses everything.
constexpr int kSendsMax = 8;
// Of what takes less, a good part is what one wake-up takes.
constexpr Time kTimedMin = std::chrono::milliseconds(2);

struct OutgoingToPeer {
  std::uint32_t to = 0;
  Bytes frame;
  SharedSlice payload;
};

struct Incoming {
  MeshEvent event;
  std::optional<Time> first_byte_at = {};  // of a message that the line took time for
};

// A line that takes its time for what it loses, and does not lose it.
template <typename Send>
Time sent_until_it_arrives(const Shaper& shape, Time now, const Send& send) {
  for (int i = 0; i < kSendsMax; ++i) {
    if (const std::optional<Time> due = send()) return *due;
  }
  return shape.arrival_of_news(now);
}

class ShapedMesh final : public Mesh {
 public:
  ShapedMesh(std::unique_ptr<Mesh> inner, const MeshOptions& mesh, const Clock& clock,
             ShapedLine line, std::size_t bytes_max, Waker waker)
      : inner_(std::move(inner)),
        rank_(mesh.rank),
        lost_(mesh.members.size()),
        limits_{.frame_bytes_max = mesh.frame_bytes_max,
                .payload_bytes_max = mesh.payload_bytes_max},
        queue_bytes_max_(mesh.send_queue_bytes),
        bytes_max_(bytes_max),
        clock_(clock),
        line_(std::move(line)),
        waker_(std::move(waker)) {}

  Status send(std::uint32_t to, Bytes frame, SharedSlice payload) override;
  Result<std::optional<MeshEvent>> receive(Time deadline) override;
  void wake() override {
    waker_.signal();
    inner_->wake();
  }
  std::size_t waiting_bytes() const override { return out_.bytes() + inner_->waiting_bytes(); }
  MeshCounters counters() const override { return inner_->counters(); }
  std::optional<double> round_trip_min_s(std::uint32_t member) const override;

 private:
  Status let_out(Time now);
  void take_in(MeshEvent event, Time now);
  MeshEvent hand_out(Time now);
  Result<bool> wait(Time until);

  const std::unique_ptr<Mesh> inner_;
  const std::uint32_t rank_;
  std::vector<bool> lost_;
  const LinkLimits limits_;
  const std::size_t queue_bytes_max_;
  const std::size_t bytes_max_;
  const Clock& clock_;
  mutable ShapedLine line_;  // follows its trace when it is asked
  Waker waker_;
  ShapedQueue<OutgoingToPeer> out_;
  ShapedQueue<Incoming> in_;
};

Status ShapedMesh::send(std::uint32_t to, Bytes frame, SharedSlice payload) {
  TRIBUTARY_TRY(check_mesh_send({.to = to,
                                 .own_rank = rank_,
                                 .members = lost_.size(),
                                 .frame_bytes = frame.size(),
                                 .payload_bytes = payload.size()},
                                limits_));
  if (lost_[to]) {
    return Status(
        StatusCode::unavailable,
        {.what = fmt::format("member {}", to), .expected = "a connection", .got = "it is lost"});
  }
  const std::size_t bytes = frame.size() + payload.size();
  if (waiting_bytes() + bytes > queue_bytes_max_) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "the shaped line to peers",
                   .expected = fmt::format("at most {} bytes on it", queue_bytes_max_),
                   .got = fmt::format("{}", waiting_bytes() + bytes),
                   .remedy = "try again after the next event"});
  }
  const Time now = clock_.now();
  Shaper& shape = line_.out(now);
  const Time due = sent_until_it_arrives(shape, now, [&] { return shape.arrival(now, bytes); });
  out_.push(due, bytes, {.to = to, .frame = std::move(frame), .payload = std::move(payload)});
  return let_out(now);
}

Status ShapedMesh::let_out(Time now) {
  while (out_.due(now)) {
    OutgoingToPeer& next = out_.first();
    // Of the frame a copy: the inner mesh may have no room for it yet.
    Status status = inner_->send(next.to, next.frame, next.payload);
    if (status.code() == StatusCode::resource_exhausted) {
      out_.put_off(now + kMeshRetryAfter);
      return {};
    }
    // That the member is gone it tells by itself.
    if (!status.ok() && status.code() != StatusCode::unavailable) return status;
    out_.pop();
  }
  return {};
}

void ShapedMesh::take_in(MeshEvent event, Time now) {
  if (const auto* const lost = std::get_if<MeshLost>(&event)) lost_[lost->member] = true;
  Shaper& shape = line_.in(now);
  const auto* const message = std::get_if<MeshMessage>(&event);
  if (message == nullptr) {
    const Time due = shape.arrival_of_news(now);
    return in_.push(due, 0, {.event = std::move(event)});
  }
  const std::size_t bytes = message->frame.size() + message->payload.size();
  const Time takes = shape.time_for(bytes);
  const Time due =
      sent_until_it_arrives(shape, now, [&] { return shape.arrival_of_last_byte(now, bytes); });
  Incoming incoming = {.event = std::move(event)};
  if (takes > Time(0)) incoming.first_byte_at = due - takes;
  in_.push(due, bytes, std::move(incoming));
}

// Whoever fetches it late takes the line for a slower one, and never for a quicker one.
MeshEvent ShapedMesh::hand_out(Time now) {
  Incoming next = in_.pop();
  auto* const message = std::get_if<MeshMessage>(&next.event);
  if (message == nullptr || !next.first_byte_at) return std::move(next.event);
  const Time took = now - *next.first_byte_at;
  const std::size_t bytes = message->frame.size() + message->payload.size();
  message->arrival = took < kTimedMin ? Arrival() : Arrival{.bytes = bytes, .took = took};
  return std::move(next.event);
}

Result<std::optional<MeshEvent>> ShapedMesh::receive(Time deadline) {
  while (true) {
    const Time now = clock_.now();
    TRIBUTARY_TRY(let_out(now));
    if (in_.due(now)) return std::optional<MeshEvent>(hand_out(now));
    const bool unsent = waiting_bytes() > 0;
    TRIBUTARY_ASSIGN(const bool go_on, wait(in_.next_due(out_.next_due(deadline))));
    const Time then = clock_.now();
    if (in_.due(then)) continue;
    const bool sent_all = unsent && waiting_bytes() == 0;
    if (!go_on || sent_all || then >= deadline) return std::optional<MeshEvent>();
  }
}

// For something to come in or for the time to pass; false when somebody woke us.
Result<bool> ShapedMesh::wait(Time until) {
  if (in_.bytes() >= bytes_max_) {
    waker_.wait(until - clock_.now());
    return !waker_.take();
  }
  TRIBUTARY_ASSIGN(std::optional<MeshEvent> event, inner_->receive(until));
  if (event) take_in(std::move(*event), clock_.now());
  return !waker_.take();
}

std::optional<double> ShapedMesh::round_trip_min_s(std::uint32_t member) const {
  const std::optional<double> inner = inner_->round_trip_min_s(member);
  if (!inner) return std::nullopt;
  const Time now = clock_.now();
  const Time there_and_back = 2 * (line_.out(now).delay() + line_.in(now).delay());
  return *inner + std::chrono::duration<double>(there_and_back).count();
}

class ShapedPeerPort final : public PeerPort {
 public:
  ShapedPeerPort(std::unique_ptr<PeerPort> inner, const Clock& clock, ShapedLine line,
                 std::size_t bytes_max)
      : inner_(std::move(inner)), clock_(clock), line_(std::move(line)), bytes_max_(bytes_max) {}

  const std::string& endpoint() const override { return inner_->endpoint(); }
  Result<std::unique_ptr<Mesh>> open(const MeshOptions& options) override {
    TRIBUTARY_ASSIGN(std::unique_ptr<Mesh> mesh, inner_->open(options));
    return make_shaped_mesh(std::move(mesh), options, clock_, line_, bytes_max_);
  }

 private:
  const std::unique_ptr<PeerPort> inner_;
  const Clock& clock_;
  const ShapedLine line_;  // as it was in the beginning: each mesh's follows the trace from then on
  const std::size_t bytes_max_;
};

}  // namespace

Result<std::unique_ptr<Mesh>> make_shaped_mesh(std::unique_ptr<Mesh> inner, const MeshOptions& mesh,
                                               const Clock& clock, const ShapedLine& line,
                                               std::size_t bytes_max) {
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  return std::unique_ptr<Mesh>(std::make_unique<ShapedMesh>(std::move(inner), mesh, clock, line,
                                                            bytes_max, std::move(waker)));
}

Result<std::unique_ptr<PeerPort>> make_shaped_peer_port(std::unique_ptr<PeerPort> inner,
                                                        const Clock& clock,
                                                        const ShapedOptions& options) {
  TRIBUTARY_ASSIGN(ShapedLine line, ShapedLine::make(options, clock.now()));
  return std::unique_ptr<PeerPort>(std::make_unique<ShapedPeerPort>(
      std::move(inner), clock, std::move(line), options.bytes_max));
}

}  // namespace tributary
