#include "core/net/shaped/shaped.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/net/message_queue.h"
#include "core/net/waker.h"

namespace tributary {
namespace {

using Time = std::chrono::nanoseconds;

// Pause before a message is retried for which the inner transport had no room.
constexpr Time kRetryAfter = std::chrono::milliseconds(1);
// A shorter time is not reported as a measurement: a large part of it would be the wake-up.
constexpr Time kTimedMin = std::chrono::milliseconds(2);

// Messages on the link, in the order in which they are due.
struct ShapedOutgoing {
  Time due;
  ConnectionId to = 0;
  SharedSlice frame;
  SharedSlice payload;
};
struct ShapedIncoming {
  Time due;     // time at which its last byte arrives
  Time begins;  // time at which its first byte arrives
  LinkEvent event;
};

// The part of the message's bytes that has not arrived at `now`, if they arrive at a constant rate.
std::uint64_t bytes_missing(const ShapedIncoming& message, std::size_t bytes, Time now) {
  if (now <= message.begins || message.due <= message.begins) return bytes;
  const double part =
      std::chrono::duration<double>(message.due - now) / (message.due - message.begins);
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * std::clamp(part, 0.0, 1.0));
}

template <typename Message>
Time next_due(const MessageQueue<Message>& queue) {
  return queue.empty() ? Time::max() : queue.front().due;
}

class Shaped final : public Transport {
 public:
  Shaped(std::unique_ptr<Transport> inner, const Clock& clock, const ShapedBounds& bounds,
         const ShapedLink& link, Waker waker)
      : inner_(std::move(inner)),
        clock_(clock),
        bounds_(bounds),
        link_(link),
        waker_(std::move(waker)) {
    const FixedMembers fixed = inner_->members();
    for (ConnectionId member = 0; member < fixed.count; ++member) live_.insert(member);
  }

  bool encrypted() const override { return inner_->encrypted(); }
  const LinkLimits& limits() const override { return inner_->limits(); }
  FixedMembers members() const override { return inner_->members(); }
  void wake() override {
    waker_.signal();
    inner_->wake();
  }
  void give_up(ConnectionId connection) override { inner_->give_up(connection); }
  LinkCounters counters() const override { return inner_->counters(); }
  std::size_t waiting_bytes() const override { return out_.bytes() + inner_->waiting_bytes(); }
  std::uint64_t bytes_arrived(ConnectionId connection) const override;
  std::optional<double> round_trip_min_s(ConnectionId connection) const override;

  Status send(ConnectionId to, SharedSlice frame, SharedSlice payload) override;
  Result<std::optional<LinkEvent>> receive(Time deadline) override;

 private:
  Status let_out(Time now);
  void take_in(LinkEvent event, Time now);
  LinkEvent hand_out(Time now);
  Result<bool> wait(Time until);

  const std::unique_ptr<Transport> inner_;
  const Clock& clock_;
  const ShapedBounds bounds_;
  mutable ShapedLink link_;  // mutable: it moves along its trace when it is read
  Waker waker_;
  // The connections that exist. All members of a transport among peers are in it until they are
  // lost.
  std::unordered_set<ConnectionId> live_;
  MessageQueue<ShapedOutgoing> out_;  // on the link, towards the peers
  MessageQueue<ShapedIncoming> in_;   // on the link, from the peers
};

// Puts the message on the link. A message that the link loses is accepted and dropped.
Status Shaped::send(ConnectionId to, SharedSlice frame, SharedSlice payload) {
  TRIBUTARY_TRY(check_send(*this, to, frame.size(), payload.size()));
  if (!live_.contains(to)) return members().count > 0 ? member_lost(to) : no_connection();
  const std::size_t bytes = frame.size() + payload.size();
  TRIBUTARY_TRY(check_queue_bound({.queue = "the emulated link",
                                   .waiting_bytes = waiting_bytes(),
                                   .bytes_max = bounds_.out_bytes_max},
                                  bytes));
  const Time now = clock_.now();
  if (const std::optional<Time> due = link_.out_arrival(now, bytes)) {
    out_.push({.due = *due, .to = to, .frame = std::move(frame), .payload = std::move(payload)},
              bytes);
  }
  return let_out(now);
}

// Passes messages that have crossed the link to the inner transport.
Status Shaped::let_out(Time now) {
  while (next_due(out_) <= now) {
    ShapedOutgoing& next = out_.front();
    Status status = inner_->send(next.to, next.frame, next.payload);
    if (status.code() == StatusCode::resource_exhausted) {
      next.due = now + kRetryAfter;
      return {};
    }
    // `unavailable` is ignored: the inner transport reports the end of the connection itself.
    if (!status.ok() && status.code() != StatusCode::unavailable) return status;
    out_.pop();
  }
  return {};
}

// Puts an event on the link. Events other than messages take no time but keep their place in the
// order.
void Shaped::take_in(LinkEvent event, Time now) {
  if (const auto* made = std::get_if<Connected>(&event)) live_.insert(made->connection);
  if (const auto* ended = std::get_if<Disconnected>(&event)) live_.erase(ended->connection);
  const Received* const received = std::get_if<Received>(&event);
  if (received == nullptr) {
    const Time due = link_.in(now).arrival_of_news(now);
    in_.push({.due = due, .begins = due, .event = std::move(event)}, 0);
    return;
  }
  const std::size_t bytes = received->frame.size() + received->payload.size();
  if (const std::optional<Time> due = link_.in_arrival(now, bytes)) {
    const Time begins = *due - link_.in(now).time_for(bytes);
    in_.push({.due = *due, .begins = begins, .event = std::move(event)}, bytes);
  }
}

// Adds the arrival times to the event. A caller that fetches the event late measures a slower link,
// never a faster one.
LinkEvent Shaped::hand_out(Time now) {
  ShapedIncoming next = in_.pop();
  auto* const received = std::get_if<Received>(&next.event);
  if (received != nullptr && next.begins < next.due) {
    const Time took = now - next.begins;
    const std::size_t bytes = received->frame.size() + received->payload.size();
    received->arrival = took < kTimedMin ? Arrival() : Arrival{.bytes = bytes, .took = took};
  }
  return std::move(next.event);
}

// Bytes that the inner transport has received but that have not crossed the link yet are
// subtracted.
std::uint64_t Shaped::bytes_arrived(ConnectionId connection) const {
  const Time now = clock_.now();
  std::uint64_t missing = 0;
  for (const auto& [incoming, bytes] : in_.entries()) {
    const auto* const received = std::get_if<Received>(&incoming.event);
    if (received == nullptr || received->connection != connection) continue;
    missing += bytes_missing(incoming, bytes, now);
  }
  const std::uint64_t received = inner_->bytes_arrived(connection);
  return received - std::min(received, missing);
}

// The delay of both directions of this link and of a similar link at the other end.
std::optional<double> Shaped::round_trip_min_s(ConnectionId connection) const {
  const std::optional<double> inner = inner_->round_trip_min_s(connection);
  if (!inner) return std::nullopt;
  const Time now = clock_.now();
  const Time there_and_back = 2 * (link_.out(now).delay() + link_.in(now).delay());
  return *inner + std::chrono::duration<double>(there_and_back).count();
}

// Alternates between sending messages that are due, delivering events that are due, and waiting for
// the inner transport.
Result<std::optional<LinkEvent>> Shaped::receive(Time deadline) {
  const bool fixed = members().count > 0;
  while (true) {
    const Time now = clock_.now();
    TRIBUTARY_TRY(let_out(now));
    if (next_due(in_) <= now) return std::optional<LinkEvent>(hand_out(now));
    const bool unsent = fixed && waiting_bytes() > 0;
    TRIBUTARY_ASSIGN(const bool go_on, wait(std::min({deadline, next_due(in_), next_due(out_)})));
    const Time then = clock_.now();
    if (next_due(in_) <= then) continue;
    const bool sent_all = unsent && waiting_bytes() == 0;
    if (!go_on || sent_all || then >= deadline) return std::optional<LinkEvent>();
  }
}

// Waits until an event arrives or the time has passed. Returns false if wake() was called.
Result<bool> Shaped::wait(Time until) {
  // While the link is full, nothing more is read, so further messages wait at their senders.
  if (in_.bytes() >= bounds_.in_bytes_max) {
    waker_.wait(until - clock_.now());
    return !waker_.take();
  }
  TRIBUTARY_ASSIGN(std::optional<LinkEvent> event, inner_->receive(until));
  if (event) take_in(std::move(*event), clock_.now());
  return !waker_.take();
}

}  // namespace

Result<std::unique_ptr<Transport>> make_shaped(std::unique_ptr<Transport> inner, const Clock& clock,
                                               const ShapedOptions& options) {
  TRIBUTARY_ASSIGN(const ShapedLink link, ShapedLink::make(options, clock.now()));
  return make_shaped(std::move(inner), clock, link,
                     {.out_bytes_max = options.bytes_max, .in_bytes_max = options.bytes_max});
}

Result<std::unique_ptr<Transport>> make_shaped(std::unique_ptr<Transport> inner, const Clock& clock,
                                               const ShapedLink& link, const ShapedBounds& bounds) {
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  return std::unique_ptr<Transport>(
      std::make_unique<Shaped>(std::move(inner), clock, bounds, link, std::move(waker)));
}

}  // namespace tributary
