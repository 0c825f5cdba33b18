// The layout of GComp's chunks and tiles on a device, for the kernels that plan and write them.
// Only .cu files include it.
#pragma once

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/gcomp/gcomp.h"
#include "core/codec/gcomp/chunk.h"

// Keeps arrays that such a loop indexes in registers.
#ifdef __CUDACC__
#define TRIBUTARY_UNROLL _Pragma("unroll")
#else
#define TRIBUTARY_UNROLL
#endif

namespace tributary::TRIBUTARY_DEVICE {

using gcomp::kLevels;
using gcomp::packed_words;
using gcomp::plane_bytes;
using gcomp::sent_bits;
using gcomp::truncated_bits;

constexpr std::uint32_t kColumns = gcomp::kColumns;
constexpr std::uint32_t kStreams = gcomp::kStreams;
constexpr std::uint32_t kSegmentSteps = kGCompSegment / kStreams;
constexpr std::uint32_t kTileSegments = 2;
constexpr std::uint32_t kTile = kTileSegments * kGCompSegment;
constexpr std::uint32_t kChunkTiles = kGCompChunk / kTile;
constexpr std::uint32_t kTileWords = kTile / 32;
constexpr std::uint32_t kHeader = gcomp::kChunkHeaderBytes;
constexpr std::uint32_t kStateBytes = kStreams * sizeof(std::uint16_t);
constexpr std::uint32_t kEscapeEntry = 1u << 20;
static_assert(kTileWords == kTileSegments * kSegmentSteps * (kStreams / 32));

inline __device__ std::uint32_t code_bits(std::uint32_t entry) { return entry >> 8 & 15u; }

inline __device__ std::uint32_t steps_of(std::uint32_t values) {
  return min((values + kStreams - 1) / kStreams, kSegmentSteps);
}

// Loads the code of every exponent to shared memory, and returns the padding.
inline __device__ std::uint32_t load_table(const GCompEncoding& g, std::uint32_t* entries) {
  for (unsigned e = threadIdx.x; e < gcomp::kExponents; e += kThreads) {
    entries[e] = g.coded ? g.table->entries[e] : 0;
  }
  __syncthreads();
  return g.coded ? g.table->padding : 0;
}

inline __device__ std::uint32_t round_up_4(std::uint32_t bytes) { return (bytes + 3) / 4 * 4; }

inline __device__ std::uint32_t field_bytes(std::uint32_t count, unsigned level) {
  return static_cast<std::uint32_t>(packed_words(count, sent_bits(level))) * 4;
}

// The offset of a chunk's levels, which follow its exponents.
inline __device__ std::uint32_t rows_begin(const ChunkPlan& plan) {
  return round_up_4(plan.exponents_end);
}
inline __device__ std::uint32_t row_bytes(const ChunkPlan& plan) {
  return plan.level == kLevels ? static_cast<std::uint32_t>(plane_bytes(plan.sent)) : 0;
}
inline __device__ std::uint32_t fields_begin(const ChunkPlan& plan, unsigned level) {
  std::uint32_t at = rows_begin(plan) + 2 * row_bytes(plan);
  for (unsigned before = 0; before < level; ++before)
    at += field_bytes(plan.counts[before], before);
  return at;
}

// The words of a chunk; all its parts begin at multiples of four bytes.
inline __device__ std::uint32_t* words_at(const GCompEncoding& g, std::uint32_t offset) {
  return reinterpret_cast<std::uint32_t*>(g.body + offset);
}

// Writes the tiles of chunks that are planned and started.
Status write_tiles(const Queue& queue, const GCompEncoding& encoding);

}  // namespace tributary::TRIBUTARY_DEVICE
