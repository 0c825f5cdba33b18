// Knobs of the emulated device for tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary::emulated {

// The order of all later grids of this thread follows from `seed`.
void set_order_seed(std::uint32_t seed);

// Allocations fail if more than `bytes` would be in use. All threads share the limit.
void set_memory_limit(std::size_t bytes);

// While `lost`, every allocation and every wait fails with io_error, as on a GPU after a fault.
void set_device_lost(bool lost);

}  // namespace tributary::emulated
