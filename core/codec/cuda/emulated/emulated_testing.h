// Knobs of the emulated device for tests. Thread-safe; they are those of the process.
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

// The operations that can fail on a device: an allocation for lack of memory, the start of a
// kernel, and a wait, which returns the errors of the kernels before it.
enum class Operation : std::uint8_t { allocation, launch, wait };

// Number of these operations since the start of the process.
std::uint64_t operations(Operation operation);

// The n-th of these operations from now on fails, once: an allocation with resource_exhausted, any
// other with io_error. 0: none fails. No other thread may use the device meanwhile.
void fail_operation(Operation operation, std::uint64_t n);

// Whether workspaces keep their memory between calls as those of a GPU do, and not allocate each
// array with its exact size. No call may be in progress.
void keep_memory(bool kept);

}  // namespace tributary::emulated
