// Work cut into pieces of a fixed size. The cut depends on the size of the data alone, never on the
// number of threads, so that every thread count gives the same bytes.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/codec/codec.h"

namespace tributary {

// Large enough to hide a thread's wake-up, small enough to stay in a core's own cache.
constexpr std::size_t kChunkValues = 64 * 1024;

// body(index, begin, end) for every piece of [0, count).
template <typename Body>
void for_each_chunk(const Execution& execution, std::size_t count, std::size_t chunk,
                    const Body& body) {
  const std::size_t chunks = (count + chunk - 1) / chunk;
  const auto run = [&](std::size_t index) {
    body(index, index * chunk, std::min(count, (index + 1) * chunk));
  };
  if (execution.pool == nullptr || chunks < 2) {
    for (std::size_t index = 0; index < chunks; ++index) run(index);
  } else {
    execution.pool->parallel_for(chunks, run);
  }
}

}  // namespace tributary
