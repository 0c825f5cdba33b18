// A transport that behaves as if its link were slower, longer and less reliable than the real one.
// It needs no root permission. It serves to measure and show a federation on such a link. Each
// direction has its own shape.
//
// All connections of the transport share one link, so messages to different peers wait for each
// other. A message is delivered whole; its reported arrival times are those that its bytes would
// have at the link's rate. A round trip counts the delay of both directions of this link.
#pragma once

#include <memory>

#include "core/base/clock.h"
#include "core/net/shaped/shaped_link.h"
#include "core/net/transport.h"

namespace tributary {

// Bound on the bytes that are on the link or wait for it, in each direction. send() refuses a
// message that does not fit (resource_exhausted) and also counts bytes that wait in the inner
// transport. Incoming messages that do not fit wait at their sender.
struct ShapedBounds {
  std::size_t out_bytes_max = 64u << 20;
  std::size_t in_bytes_max = 64u << 20;
};

// Wraps `inner`. Messages are sent while receive() is called. `clock` must be the inner transport's
// clock and outlive the result.
Result<std::unique_ptr<Transport>> make_shaped(std::unique_ptr<Transport> inner, const Clock& clock,
                                               const ShapedOptions& options);
// The same on a link that earlier transports have used already.
Result<std::unique_ptr<Transport>> make_shaped(std::unique_ptr<Transport> inner, const Clock& clock,
                                               const ShapedLink& link, const ShapedBounds& bounds);

}  // namespace tributary
