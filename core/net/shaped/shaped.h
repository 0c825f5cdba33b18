// A transport on a line that is slower, longer and worse than the real one, without root: for
// measuring and showing what a federation does on one. Each direction has a shape of its own.
#pragma once

#include <memory>

#include "core/base/clock.h"
#include "core/net/shaped/shaped_line.h"
#include "core/net/transport.h"

namespace tributary {

// Loses whole messages, a frame with its payload. What is sent leaves while receive() is called.
// `clock` is the inner transport's and outlives this.
Result<std::unique_ptr<Transport>> make_shaped(std::unique_ptr<Transport> inner, const Clock& clock,
                                               const ShapedOptions& options);

}  // namespace tributary
