// A transport on a line that is slower, longer and worse than the real one, without root: for
// measuring and showing what a federation does on one. Each direction has a shape of its own.
//
// One line is shared by all connections of the transport, so that what is sent to several peers
// waits for each other. A message is handed out whole, and its arrival is told as if its bytes had
// come one after the other at the line's rate. A round trip is taken to cross a line like one's own
// at the other end.
#pragma once

#include <memory>

#include "core/base/clock.h"
#include "core/net/shaped/shaped_line.h"
#include "core/net/transport.h"

namespace tributary {

// Bytes that are on the line or wait for it, in each direction. send() refuses what does not fit,
// and counts what waits in the inner transport too; what comes in then waits with its sender.
struct ShapedRoom {
  std::size_t out_bytes_max = 64u << 20;
  std::size_t in_bytes_max = 64u << 20;
};

// What is sent leaves while receive() is called. `clock` is the inner transport's and outlives
// this.
Result<std::unique_ptr<Transport>> make_shaped(std::unique_ptr<Transport> inner, const Clock& clock,
                                               const ShapedOptions& options);
// The same on a line that others were on before.
Result<std::unique_ptr<Transport>> make_shaped(std::unique_ptr<Transport> inner, const Clock& clock,
                                               const ShapedLine& line, const ShapedRoom& room);

}  // namespace tributary
