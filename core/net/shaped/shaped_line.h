// What the decorators that shape a line have in common (shaped.h, shaped_mesh.h): the shapes of
// both directions, which follow one trace, and what is on the line.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "core/base/status.h"
#include "core/net/shaped/shaper.h"
#include "core/net/shaped/trace.h"

namespace tributary {

struct ShapedOptions {
  ShapeOptions out = {};
  ShapeOptions in = {};
  // Changes delay, rate and loss of both directions; null: they stay as they are.
  std::shared_ptr<const LinkTrace> trace = nullptr;
  // That are on the line or wait for it, in each direction. send() refuses what does not fit; what
  // comes in then waits with its sender.
  std::size_t bytes_max = 64u << 20;
};

class ShapedLine {
 public:
  using Time = std::chrono::nanoseconds;

  static Result<ShapedLine> make(const ShapedOptions& options, Time began_at) {
    TRIBUTARY_ASSIGN(const Shaper out, Shaper::make(options.out));
    TRIBUTARY_ASSIGN(const Shaper in, Shaper::make(options.in));
    return ShapedLine(out, in, options.trace, began_at);
  }

  // Each as the trace has it at this time.
  Shaper& out(Time now) {
    follow_trace(now);
    return out_;
  }
  Shaper& in(Time now) {
    follow_trace(now);
    return in_;
  }

 private:
  ShapedLine(const Shaper& out, const Shaper& in, std::shared_ptr<const LinkTrace> trace,
             Time began_at)
      : out_(out), in_(in), trace_(std::move(trace)), began_at_(began_at) {}

  void follow_trace(Time now) {
    if (!trace_) return;
    const TraceStep& step = trace_->at(now - began_at_);
    if (&step == std::exchange(step_, &step)) return;
    for (Shaper* shape : {&out_, &in_}) shape->change(step.delay, step.bytes_per_s, step.loss);
  }

  Shaper out_;
  Shaper in_;
  std::shared_ptr<const LinkTrace> trace_;
  Time began_at_;
  const TraceStep* step_ = nullptr;  // of the trace, that both shapes are at
};

// What is under way in one direction, in order.
template <typename Item>
class ShapedQueue {
 public:
  using Time = std::chrono::nanoseconds;

  void push(Time due, std::size_t bytes, Item item) {
    waiting_.push_back({due, bytes, std::move(item)});
    bytes_ += bytes;
  }
  bool due(Time now) const { return !waiting_.empty() && waiting_.front().due <= now; }
  Item& first() { return waiting_.front().item; }
  Item pop() {
    Item item = std::move(waiting_.front().item);
    bytes_ -= waiting_.front().bytes;
    waiting_.pop_front();
    return item;
  }
  // The first one could not be let out.
  void put_off(Time until) { waiting_.front().due = until; }

  bool empty() const { return waiting_.empty(); }
  std::size_t bytes() const { return bytes_; }
  Time next_due(Time otherwise) const {
    return waiting_.empty() ? otherwise : std::min(otherwise, waiting_.front().due);
  }

 private:
  struct Waiting {
    Time due;
    std::size_t bytes;
    Item item;
  };
  std::deque<Waiting> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace tributary
