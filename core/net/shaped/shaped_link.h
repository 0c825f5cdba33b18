// The link model of a shaped transport (shaped.h): one shape for each direction, a trace that
// changes both over time, and the treatment of lost messages.
//
// It holds no messages: the transport that uses it keeps them until the computed time. The seed in
// the options determines every loss and delay, so a run repeats exactly.
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

// The treatment of messages by the shape, given that the inner transport delivers all of them.
struct ShapePolicy {
  // True: a message that the shape loses is dropped, frame and payload. False: it takes its time on
  // the link again, as when TCP retransmits, and nothing is lost.
  bool loses_messages = true;
  // True: the sender has a shaped link too. The message then crosses this link while it crosses the
  // sender's. False: it crosses this link after it has arrived.
  bool sender_is_shaped = false;
};

inline constexpr ShapePolicy kShapedHub = {};  // between an agent and its coordinator
inline constexpr ShapePolicy kShapedPeers = {.loses_messages = false, .sender_is_shaped = true};

struct ShapedOptions {
  ShapeOptions out = {};
  ShapeOptions in = {};
  // Changes delay, rate and loss of both directions over time; null: they stay constant.
  std::shared_ptr<const LinkTrace> trace = nullptr;
  ShapePolicy policy = kShapedHub;
  // Bound on the bytes that are on the link or wait for it, in each direction. send() refuses a
  // message that does not fit. Incoming messages that do not fit wait at their sender.
  std::size_t bytes_max = 64u << 20;
};

// Computes when messages cross the link. It reads no clock: the caller passes in times that never
// decrease. Not thread-safe.
class ShapedLink {
 public:
  using Time = std::chrono::nanoseconds;

  static Result<ShapedLink> make(const ShapedOptions& options, Time began_at) {
    TRIBUTARY_ASSIGN(const Shaper out, Shaper::make(options.out));
    TRIBUTARY_ASSIGN(const Shaper in, Shaper::make(options.in));
    return ShapedLink(out, in, options, began_at);
  }

  // The shape of a direction at this time of the trace.
  Shaper& out(Time now) {
    follow_trace(now);
    return out_;
  }
  Shaper& in(Time now) {
    follow_trace(now);
    return in_;
  }

  // The time at which a message has crossed the link; empty if it is lost.
  std::optional<Time> out_arrival(Time now, std::size_t bytes) {
    return crossed(out(now), now, [&](Shaper& shape) { return shape.arrival(now, bytes); });
  }
  std::optional<Time> in_arrival(Time now, std::size_t bytes) {
    return crossed(in(now), now, [&](Shaper& shape) {
      return policy_.sender_is_shaped ? shape.arrival_of_last_byte(now, bytes)
                                      : shape.arrival(now, bytes);
    });
  }

 private:
  // A lost message is retransmitted, but not forever on a link that loses everything.
  static constexpr int kSendsMax = 8;

  ShapedLink(const Shaper& out, const Shaper& in, const ShapedOptions& options, Time began_at)
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
  const TraceStep* step_ = nullptr;  // step of the trace that both shapes follow
};

}  // namespace tributary
