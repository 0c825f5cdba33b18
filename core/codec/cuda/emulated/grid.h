// Runs a kernel's grid on the CPU: the threads of a block are fibers of one OS thread, and blocks
// come one after the other. Threads and blocks run in an order that a seed draws.
//
// All functions are thread-safe. One grid of the process runs at a time. Under the thread sanitizer
// two OS threads share the blocks of a grid, so that it sees races between blocks as well as races
// between threads. It does not see races between two blocks that the same OS thread runs.
//
// There is no time, no cache and no memory of its own: a kernel works on host memory. Blocks cannot
// wait for one another.
#pragma once

#include <cstdint>

#include "core/base/status.h"
#include "core/codec/cuda/device.h"

namespace tributary::emulated {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRIBUTARY_GRID_OF_TWO_THREADS
#endif
#endif

inline constexpr unsigned kWarp = 32;
// The limits of every GPU from compute capability 8.0 on.
inline constexpr unsigned kThreadsMax = 1024;
inline constexpr unsigned kGridMax = 0x7fffffff;

// Calls call(what) once for each thread of the grid, and returns when all have returned. Errors:
//   invalid_argument    no blocks, no threads, or more than a GPU takes
//   resource_exhausted  no memory for the threads' stacks
//   mismatch            threads of a block or warp wait for others that wait elsewhere or ended
//   unsupported         a warp function with another mask than the full one, or in a warp with
//                       fewer than 32 threads
// After an error of the last two kinds, memory that the kernel writes is undefined.
Status run_grid(const LaunchShape& shape, void (*call)(const void* what), const void* what);
// The first half of it: refuses a shape that no GPU takes, before the kernel waits in a stream.
Status check_launch(const LaunchShape& shape);
// The second half: the errors of the threads alone.
Status run_checked_grid(const LaunchShape& shape, void (*call)(const void* what), const void* what);

// A value below `bound`, from the seed of this thread's orders.
std::uint32_t draw_below(std::uint32_t bound);

// --- for the thread of a grid that calls them ---

struct Index {
  unsigned x;
};
Index thread_index();
Index block_index();
Index block_size();
Index grid_size();
void wait_for_block(unsigned site);
// Returns the values of all lanes; valid until the thread's next warp function.
const std::uint32_t* exchange_in_warp(unsigned mask, std::uint32_t value, unsigned site);

}  // namespace tributary::emulated
