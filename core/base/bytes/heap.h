// How a daemon's malloc places blocks. Vectors have a cache of their own (block_cache.h).
#pragma once

#include <cstddef>

namespace tributary {

// One heap for all threads. Memory that one thread frees, such as a message that libzmq has read,
// is then reused by the others. With one heap per thread, a coordinator of large models needs a
// third more memory. To be called before other threads begin.
void share_heap();

// malloc maps and unmaps each block of at least this size by itself, at the cost of clearing its
// pages. By default it would soon raise its limit and place blocks as large as payloads in the
// heap, where freed gaps fit no other payload. Any thread may call it: others see the old limit for
// a moment.
void map_blocks_from(std::size_t bytes);

}  // namespace tributary
