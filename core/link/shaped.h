// A transport on a line that is slower, longer and worse than the real one, without root: for
// measuring and showing what a federation does on one. Each direction has a shape of its own.
#pragma once

#include <memory>

#include "core/base/clock.h"
#include "core/link/shaper.h"
#include "core/link/trace.h"
#include "core/link/transport.h"

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

// Loses whole messages, a frame with its payload. What is sent leaves while receive() is called.
// `clock` is the inner transport's and outlives this.
Result<std::unique_ptr<Transport>> make_shaped(std::unique_ptr<Transport> inner, const Clock& clock,
                                               const ShapedOptions& options);

}  // namespace tributary
