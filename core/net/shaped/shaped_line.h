// A line to shape a transport by (shaped.h): the shapes of both directions, which follow one trace,
// and what it does to messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/net/shaped/shaper.h"
#include "core/net/shaped/trace.h"

namespace tributary {

// How a line treats messages that the transport beneath carries whole and without a loss.
struct ShapePolicy {
  // True: what the shape loses is gone, a frame with its payload. False: it takes its time on the
  // line once more, as TCP sends it again, and nothing is lost.
  bool loses_messages = true;
  // True: the sender has such a line, and what comes in was under way on this one while it crossed
  // that one. False: it takes its time on this line after it has come.
  bool sender_has_line = false;
};

inline constexpr ShapePolicy kShapedHub = {};  // between an agent and its coordinator
inline constexpr ShapePolicy kShapedPeers = {.loses_messages = false, .sender_has_line = true};

struct ShapedOptions {
  ShapeOptions out = {};
  ShapeOptions in = {};
  // Changes delay, rate and loss of both directions; null: they stay as they are.
  std::shared_ptr<const LinkTrace> trace = nullptr;
  ShapePolicy policy = kShapedHub;
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
    return ShapedLine(out, in, options, began_at);
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

  // When a message has crossed the line; nothing: it is lost.
  std::optional<Time> out_arrival(Time now, std::size_t bytes) {
    return crossed(out(now), now, [&](Shaper& shape) { return shape.arrival(now, bytes); });
  }
  std::optional<Time> in_arrival(Time now, std::size_t bytes) {
    return crossed(in(now), now, [&](Shaper& shape) {
      return policy_.sender_has_line ? shape.arrival_of_last_byte(now, bytes)
                                     : shape.arrival(now, bytes);
    });
  }

 private:
  // What is lost is sent again, but not for ever on a line that loses everything.
  static constexpr int kSendsMax = 8;

  ShapedLine(const Shaper& out, const Shaper& in, const ShapedOptions& options, Time began_at)
      : out_(out), in_(in), trace_(options.trace), policy_(options.policy), began_at_(began_at) {}

  template <typename Send>
  std::optional<Time> crossed(Shaper& shape, Time now, const Send& send) const {
    if (policy_.loses_messages) return send(shape);
    for (int i = 0; i < kSendsMax; ++i) {
      if (const std::optional<Time> due = send(shape)) return due;
    }
    return shape.arrival_of_news(now);
  }

  void follow_trace(Time now) {
    if (!trace_) return;
    const TraceStep& step = trace_->at(now - began_at_);
    if (&step == std::exchange(step_, &step)) return;
    for (Shaper* shape : {&out_, &in_}) shape->change(step.delay, step.bytes_per_s, step.loss);
  }

  Shaper out_;
  Shaper in_;
  std::shared_ptr<const LinkTrace> trace_;
  ShapePolicy policy_;
  Time began_at_;
  const TraceStep* step_ = nullptr;  // of the trace, that both shapes are at
};

}  // namespace tributary
