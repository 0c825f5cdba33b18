#include "core/link/shaped.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "core/link/waker.h"

namespace tributary {
namespace {

using Time = std::chrono::nanoseconds;

// How soon a message that the inner transport had no room for is tried again.
constexpr Time kRetryAfter = std::chrono::milliseconds(1);

struct Outgoing {
  Time due;
  ConnectionId to;
  SharedSlice frame;
  SharedSlice payload;

  std::size_t bytes() const { return frame.size() + payload.size(); }
};

struct Incoming {
  Time due;
  LinkEvent event;
  std::size_t bytes;
};

class Shaped final : public Transport {
 public:
  Shaped(std::unique_ptr<Transport> inner, const Clock& clock, const ShapedOptions& options,
         Shaper out, Shaper in, Waker waker)
      : inner_(std::move(inner)),
        clock_(clock),
        began_at_(clock.now()),
        trace_(options.trace),
        bytes_max_(options.bytes_max),
        out_shape_(out),
        in_shape_(in),
        waker_(std::move(waker)) {}

  bool encrypted() const override { return inner_->encrypted(); }
  const LinkLimits& limits() const override { return inner_->limits(); }
  void wake() override {
    waker_.signal();
    inner_->wake();
  }
  LinkCounters counters() const override { return inner_->counters(); }

  Status send(ConnectionId to, SharedSlice frame, SharedSlice payload) override;
  Result<std::optional<LinkEvent>> receive(Time deadline) override;

 private:
  void follow_trace(Time now);
  void let_out(Time now);
  void take_in(LinkEvent event, Time now);
  Time next_step(Time deadline) const;
  Result<bool> wait(Time until);

  const std::unique_ptr<Transport> inner_;
  const Clock& clock_;
  const Time began_at_;
  const std::shared_ptr<const LinkTrace> trace_;
  const TraceStep* step_ = nullptr;  // of the trace, that both shapes are at
  const std::size_t bytes_max_;
  Shaper out_shape_;
  Shaper in_shape_;
  Waker waker_;
  std::unordered_set<ConnectionId> live_;
  std::deque<Outgoing> out_;
  std::deque<Incoming> in_;
  std::size_t out_bytes_ = 0;
  std::size_t in_bytes_ = 0;
};

Status Shaped::send(ConnectionId to, SharedSlice frame, SharedSlice payload) {
  const std::size_t bytes = frame.size() + payload.size();
  TRIBUTARY_TRY(check_caps(limits(), frame.size(), payload.size()));
  if (!live_.contains(to)) return no_connection();
  if (!out_.empty() && out_bytes_ + bytes > bytes_max_) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "the shaped line",
                   .expected = fmt::format("at most {} bytes on it", bytes_max_),
                   .got = fmt::format("{}", out_bytes_ + bytes),
                   .remedy = "try again after the next event"});
  }
  const Time now = clock_.now();
  follow_trace(now);
  if (const std::optional<Time> due = out_shape_.arrival(now, bytes)) {
    out_.push_back({*due, to, std::move(frame), std::move(payload)});
    out_bytes_ += bytes;
  }
  let_out(now);
  return {};
}

void Shaped::follow_trace(Time now) {
  if (!trace_) return;
  const TraceStep& step = trace_->at(now - began_at_);
  if (&step == std::exchange(step_, &step)) return;
  for (Shaper* shape : {&out_shape_, &in_shape_}) {
    shape->change(step.delay, step.bytes_per_s, step.loss);
  }
}

void Shaped::let_out(Time now) {
  while (!out_.empty() && out_.front().due <= now) {
    Outgoing& next = out_.front();
    const Status status = inner_->send(next.to, next.frame, next.payload);
    if (status.code() == StatusCode::resource_exhausted) {
      next.due = now + kRetryAfter;
      return;
    }
    // What else can be wrong by now is that the connection is gone, and the message with it.
    out_bytes_ -= next.bytes();
    out_.pop_front();
  }
}

void Shaped::take_in(LinkEvent event, Time now) {
  if (const auto* made = std::get_if<Connected>(&event)) live_.insert(made->connection);
  if (const auto* ended = std::get_if<Disconnected>(&event)) live_.erase(ended->connection);
  const Received* const received = std::get_if<Received>(&event);
  if (received == nullptr) {
    in_.push_back({in_shape_.arrival_of_news(now), std::move(event), 0});
    return;
  }
  const std::size_t bytes = received->frame.size() + received->payload.size();
  follow_trace(now);
  if (const std::optional<Time> due = in_shape_.arrival(now, bytes)) {
    in_.push_back({*due, std::move(event), bytes});
    in_bytes_ += bytes;
  }
}

Time Shaped::next_step(Time deadline) const {
  if (!in_.empty()) deadline = std::min(deadline, in_.front().due);
  if (!out_.empty()) deadline = std::min(deadline, out_.front().due);
  return deadline;
}

Result<std::optional<LinkEvent>> Shaped::receive(Time deadline) {
  while (true) {
    const Time now = clock_.now();
    let_out(now);
    if (!in_.empty() && in_.front().due <= now) {
      LinkEvent event = std::move(in_.front().event);
      in_bytes_ -= in_.front().bytes;
      in_.pop_front();
      return std::optional<LinkEvent>(std::move(event));
    }
    const Time until = next_step(deadline);
    TRIBUTARY_ASSIGN(const bool go_on, wait(until));
    const Time then = clock_.now();
    if (!in_.empty() && in_.front().due <= then) continue;
    if (!go_on || then >= deadline) return std::optional<LinkEvent>();
  }
}

// For something to come in or for the time to pass; false when somebody woke us.
Result<bool> Shaped::wait(Time until) {
  if (in_bytes_ >= bytes_max_) {
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
  TRIBUTARY_ASSIGN(Shaper out, Shaper::make(options.out));
  TRIBUTARY_ASSIGN(Shaper in, Shaper::make(options.in));
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  return std::unique_ptr<Transport>(std::make_unique<Shaped>(
      std::move(inner), clock, options, out, in, std::move(waker)));
}

}  // namespace tributary
