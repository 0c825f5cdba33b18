#include "core/net/shaped/shaped.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "core/net/waker.h"

namespace tributary {
namespace {

using Time = std::chrono::nanoseconds;

// How soon a message that the inner transport had no room for is tried again.
constexpr Time kRetryAfter = std::chrono::milliseconds(1);

// A message on the line, on its way in.
struct OnLine {
  ConnectionId connection;
  std::uint64_t bytes;
  Time begins;  // its first byte arrives
  Time due;     // its last byte arrives

  std::uint64_t bytes_missing(Time now) const {
    if (now <= begins || due <= begins) return bytes;
    const double part = std::chrono::duration<double>(due - now) / (due - begins);
    return static_cast<std::uint64_t>(static_cast<double>(bytes) * std::clamp(part, 0.0, 1.0));
  }
};

struct Outgoing {
  ConnectionId to;
  SharedSlice frame;
  SharedSlice payload;
};

class Shaped final : public Transport {
 public:
  Shaped(std::unique_ptr<Transport> inner, const Clock& clock, std::size_t bytes_max,
         ShapedLine line, Waker waker)
      : inner_(std::move(inner)),
        clock_(clock),
        bytes_max_(bytes_max),
        line_(std::move(line)),
        waker_(std::move(waker)) {}

  bool encrypted() const override { return inner_->encrypted(); }
  const LinkLimits& limits() const override { return inner_->limits(); }
  void wake() override {
    waker_.signal();
    inner_->wake();
  }
  void give_up(ConnectionId connection) override { inner_->give_up(connection); }
  LinkCounters counters() const override { return inner_->counters(); }
  std::uint64_t bytes_arrived(ConnectionId connection) const override;

  Status send(ConnectionId to, SharedSlice frame, SharedSlice payload) override;
  Result<std::optional<LinkEvent>> receive(Time deadline) override;

 private:
  void let_out(Time now);
  void take_in(LinkEvent event, Time now);
  LinkEvent let_in();
  Result<bool> wait(Time until);

  const std::unique_ptr<Transport> inner_;
  const Clock& clock_;
  const std::size_t bytes_max_;
  ShapedLine line_;
  Waker waker_;
  std::unordered_set<ConnectionId> live_;
  ShapedQueue<Outgoing> out_;
  ShapedQueue<LinkEvent> in_;
  std::deque<OnLine> on_line_;  // the messages of in_
};

Status Shaped::send(ConnectionId to, SharedSlice frame, SharedSlice payload) {
  const std::size_t bytes = frame.size() + payload.size();
  TRIBUTARY_TRY(check_caps(limits(), frame.size(), payload.size()));
  if (!live_.contains(to)) return no_connection();
  if (!out_.empty() && out_.bytes() + bytes > bytes_max_) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "the shaped line",
                   .expected = fmt::format("at most {} bytes on it", bytes_max_),
                   .got = fmt::format("{}", out_.bytes() + bytes),
                   .remedy = "try again after the next event"});
  }
  const Time now = clock_.now();
  if (const std::optional<Time> due = line_.out(now).arrival(now, bytes)) {
    out_.push(*due, bytes, {to, std::move(frame), std::move(payload)});
  }
  let_out(now);
  return {};
}

void Shaped::let_out(Time now) {
  while (out_.due(now)) {
    const Outgoing& next = out_.first();
    const Status status = inner_->send(next.to, next.frame, next.payload);
    if (status.code() == StatusCode::resource_exhausted) return out_.put_off(now + kRetryAfter);
    // What else can be wrong by now is that the connection is gone, and the message with it.
    out_.pop();
  }
}

void Shaped::take_in(LinkEvent event, Time now) {
  if (const auto* made = std::get_if<Connected>(&event)) live_.insert(made->connection);
  if (const auto* ended = std::get_if<Disconnected>(&event)) live_.erase(ended->connection);
  const Received* const received = std::get_if<Received>(&event);
  Shaper& shape = line_.in(now);
  if (received == nullptr) {
    const Time due = shape.arrival_of_news(now);
    return in_.push(due, 0, std::move(event));
  }
  const std::size_t bytes = received->frame.size() + received->payload.size();
  if (const std::optional<Time> due = shape.arrival(now, bytes)) {
    on_line_.push_back({.connection = received->connection,
                        .bytes = bytes,
                        .begins = *due - shape.time_for(bytes),
                        .due = *due});
    in_.push(*due, bytes, std::move(event));
  }
}

LinkEvent Shaped::let_in() {
  LinkEvent event = in_.pop();
  if (std::holds_alternative<Received>(event)) on_line_.pop_front();
  return event;
}

// What the inner transport has received and the line has not carried yet is still to arrive.
std::uint64_t Shaped::bytes_arrived(ConnectionId connection) const {
  const Time now = clock_.now();
  std::uint64_t missing = 0;
  for (const OnLine& each : on_line_) {
    if (each.connection == connection) missing += each.bytes_missing(now);
  }
  const std::uint64_t received = inner_->bytes_arrived(connection);
  return received - std::min(received, missing);
}

Result<std::optional<LinkEvent>> Shaped::receive(Time deadline) {
  while (true) {
    const Time now = clock_.now();
    let_out(now);
    if (in_.due(now)) return std::optional<LinkEvent>(let_in());
    const Time until = in_.next_due(out_.next_due(deadline));
    TRIBUTARY_ASSIGN(const bool go_on, wait(until));
    const Time then = clock_.now();
    if (in_.due(then)) continue;
    if (!go_on || then >= deadline) return std::optional<LinkEvent>();
  }
}

// For something to come in or for the time to pass; false when somebody woke us.
Result<bool> Shaped::wait(Time until) {
  if (in_.bytes() >= bytes_max_) {
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
  TRIBUTARY_ASSIGN(ShapedLine line, ShapedLine::make(options, clock.now()));
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  return std::unique_ptr<Transport>(std::make_unique<Shaped>(
      std::move(inner), clock, options.bytes_max, std::move(line), std::move(waker)));
}

}  // namespace tributary
