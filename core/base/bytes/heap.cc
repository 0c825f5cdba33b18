#include "core/base/bytes/heap.h"

#include <malloc.h>

#include <algorithm>

namespace tributary {

void share_heap() { ::mallopt(M_ARENA_MAX, 1); }

void map_blocks_from(std::size_t bytes) {
  // Free memory at the end of the heap that is given back to the system.
  constexpr std::size_t kTrimmedBytesMin = std::size_t{16} << 20;
  ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(bytes));
  ::mallopt(M_TRIM_THRESHOLD, static_cast<int>(std::max(kTrimmedBytesMin, 2 * bytes)));
}

}  // namespace tributary
