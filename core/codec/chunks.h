// Splits work into chunks of a fixed size.
//
// Chunk boundaries depend only on the size of the data, never on the number of threads. A result
// that is a fixed function of each chunk is therefore the same for every number of threads. `body`
// must be safe to call from several threads at once, for different chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/codec/codec.h"

namespace tributary {

// 256 KiB of float32: large enough that starting a thread's work costs little by comparison, small
// enough for the L2 cache of one core.
constexpr std::size_t kChunkValues = 64 * 1024;

// The number of threads among which for_each_chunk() divides `count` values.
inline std::uint32_t threads_for(const Execution& execution, std::size_t count) {
  const std::size_t chunks = std::max<std::size_t>(1, (count + kChunkValues - 1) / kChunkValues);
  const std::size_t threads = execution.pool ? execution.pool->threads() : 1;
  return static_cast<std::uint32_t>(std::min(threads, chunks));
}

// Calls body(index, begin, end) once for each chunk of [0, count), and returns after the last call.
// Uses execution.pool if it is set and if the data has two chunks or more.
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
