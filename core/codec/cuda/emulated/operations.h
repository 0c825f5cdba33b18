// The operations of the emulated device that can fail, counted. A test can let any of them fail
// (emulated_testing.h). Thread-safe.
#pragma once

#include "core/base/status.h"
#include "core/codec/cuda/emulated/emulated_testing.h"

namespace tributary::emulated {

// Called before an operation is done; it must not be done after an error.
Status begin_operation(Operation operation);

}  // namespace tributary::emulated
