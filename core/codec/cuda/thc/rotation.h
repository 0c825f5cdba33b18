// Parts of THC's kernels: blocks of a bucket, and the rotation of a tile of coordinates. Only .cu
// files include it.
//
// A tile is rotated by kWorkers workers with kEach coordinates each, in three steps of four rounds
// of butterflies. Between two steps the coordinates pass through shared memory. A tile may hold
// several blocks: each begins at a multiple of its own size, so a round applies to a pair if its
// stride is below the size. The part of a larger block in a tile is rotated by the first 12 rounds,
// and finished by the column kernels: they do four rounds between the tiles of a group.
#pragma once

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/thc/thc.h"
#include "core/codec/thc/block_range.h"

namespace tributary::TRIBUTARY_DEVICE {

constexpr unsigned kEach = 16;
constexpr unsigned kWorkers = 256;
constexpr unsigned kTile = kEach * kWorkers;
constexpr std::uint32_t kGroup = kEach * kTile;  // the largest block
static_assert(kGroup == thc::kBlockMax);

// A thread is one worker or, where a block of threads is small, several.
template <typename Work>
__device__ void for_each_worker(const Work& work) {
  if constexpr (kThreads == kWorkers) {
    work(threadIdx.x);
  } else {
    for (unsigned worker = threadIdx.x; worker < kWorkers; worker += kThreads) work(worker);
  }
}

struct BlockPlace {
  std::uint32_t index;
  std::uint32_t size;
};

// Kernels exist twice: for tiles of full blocks without padding, and for those of the tail (kTail).

// Behind the full blocks, the tail has a block for each bit of its number of units. The highest bit
// in which a unit and the end differ is that of its block.
template <bool kTail>
__device__ BlockPlace block_at(const ThcBlocks& blocks, std::uint32_t coordinate) {
  const std::uint32_t unit = coordinate / thc::kBlockMin;
  const BlockPlace full = {unit >> blocks.shift, blocks.block()};
  if constexpr (!kTail) return full;
  const auto top = 31u - static_cast<unsigned>(__clz(unit ^ blocks.units));
  if (top >= blocks.shift) return full;
  const std::uint32_t before = (blocks.units & ((1u << blocks.shift) - 1)) >> (top + 1);
  return {(blocks.units >> blocks.shift) + static_cast<std::uint32_t>(__popc(before)),
          thc::kBlockMin << top};
}

template <bool kTail>
__device__ bool exists(const ThcBlocks& blocks, std::uint32_t coordinate) {
  return !kTail || coordinate / thc::kBlockMin < blocks.units;
}

// Where a coordinate of a tile is in shared memory. With a gap after every 16, the lanes of a warp
// use different banks in the first two steps of the rotation, and two of them the same in the last.
constexpr unsigned kTileWords = kTile + kTile / kEach;
constexpr unsigned place_of(unsigned i) { return i + i / kEach; }

// The coordinates first + i * kStep of a tile. kStep is a multiple of kEach, or it is 1 and `first`
// is such a multiple.
template <unsigned kStep>
__device__ void load_shared(const float* tile, unsigned first, float (&y)[kEach]) {
  const float* const from = tile + place_of(first);
  for (unsigned i = 0; i < kEach; ++i) y[i] = from[i * place_of(kStep)];
}
template <unsigned kStep>
__device__ void store_shared(const float (&y)[kEach], unsigned first, float* tile) {
  float* const to = tile + place_of(first);
  for (unsigned i = 0; i < kEach; ++i) to[i * place_of(kStep)] = y[i];
}

// Four rounds of butterflies. The pair of i and i + s takes part if applies(i, s).
template <typename Applies>
__device__ void butterflies(float (&y)[kEach], const Applies& applies) {
  for (unsigned s = 1; s < kEach; s *= 2) {
    for (unsigned i = 0; i < kEach; ++i) {
      if ((i & s) != 0 || !applies(i, s)) continue;
      const float a = y[i];
      const float b = y[i + s];
      y[i] = a + b;
      y[i + s] = a - b;
    }
  }
}

// The four rounds between the coordinates first + i * step.
template <bool kTail>
__device__ void rotate(const ThcBlocks& blocks, std::uint32_t first, std::uint32_t step,
                       float (&y)[kEach]) {
  const std::uint32_t full = blocks.block();
  if constexpr (kTail) {
    butterflies(y, [&](unsigned i, unsigned s) {
      const std::uint32_t coordinate = first + i * step;
      return exists<true>(blocks, coordinate) && s * step < block_at<true>(blocks, coordinate).size;
    });
  } else if (full >= kEach * step) {
    butterflies(y, [](unsigned, unsigned) { return true; });
  } else {
    butterflies(y, [=](unsigned, unsigned s) { return s * step < full; });
  }
}

// The second step of a tile, in place.
template <bool kTail>
__device__ void rotate_middle(const ThcBlocks& blocks, std::uint32_t tile_begin, float* tile) {
  for_each_worker([&](unsigned worker) {
    const unsigned first = worker / 16 * 256 + worker % 16;
    float y[kEach];
    load_shared<16>(tile, first, y);
    rotate<kTail>(blocks, tile_begin + first, 16, y);
    store_shared<16>(y, first, tile);
  });
}

// The columns of a kernel's last step: worker w has the coordinates first + w + i * kStep.
template <std::uint32_t kStep>
struct Columns {
  static constexpr std::uint32_t step = kStep;
  std::uint32_t first;

  __device__ std::uint32_t at(unsigned worker, unsigned i) const {
    return first + worker + i * kStep;
  }
};

// The columns of a tile, and those of a piece of a group: a tile's worth of columns whose steps are
// tiles.
using TileColumns = Columns<kWorkers>;
using GroupColumns = Columns<kTile>;
inline __device__ TileColumns columns_of_tile(std::uint32_t tile) { return {tile * kTile}; }
inline __device__ GroupColumns columns_of_group(std::uint32_t piece) {
  return {piece / kEach * kGroup + piece % kEach * kWorkers};
}

// Reads and writes the columns of a worker in an array of all coordinates.
template <bool kTail, std::uint32_t kStep>
__device__ void load_columns(const ThcBlocks& blocks, const float* from, Columns<kStep> columns,
                             unsigned worker, float (&y)[kEach]) {
  const float* const column = from + columns.at(worker, 0);
  for (unsigned i = 0; i < kEach; ++i) {
    y[i] = exists<kTail>(blocks, columns.at(worker, i)) ? column[i * kStep] : 0.0f;
  }
}
template <bool kTail, std::uint32_t kStep>
__device__ void store_columns(const ThcBlocks& blocks, const float (&y)[kEach],
                              Columns<kStep> columns, unsigned worker, float* to) {
  float* const column = to + columns.at(worker, 0);
  for (unsigned i = 0; i < kEach; ++i) {
    if (exists<kTail>(blocks, columns.at(worker, i))) column[i * kStep] = y[i];
  }
}

// Tiles, or the pieces of groups, that one kernel processes.
struct Part {
  std::uint32_t begin;
  std::uint32_t end;
};

// Starts the kernels for `each` coordinates at a time, of which a part is one `pieces`th:
// start(Part, tail).
template <typename Start>
Status start_parts(const ThcBlocks& blocks, std::uint32_t each, std::uint32_t pieces,
                   const Start& start) {
  const std::uint32_t units = each / thc::kBlockMin;
  const std::uint32_t all = blocks.units / units + (blocks.units % units != 0 ? 1 : 0);
  const unsigned block_shift = blocks.shift + 6;
  const std::uint32_t full = (blocks.values >> block_shift << block_shift) / each;
  if (full > 0) TRIBUTARY_TRY(start(Part{0, full * pieces}, std::false_type()));
  if (full < all) TRIBUTARY_TRY(start(Part{full * pieces, all * pieces}, std::true_type()));
  return {};
}
template <typename Start>
Status start_tiles(const ThcBlocks& blocks, const Start& start) {
  return start_parts(blocks, kTile, 1, start);
}
template <typename Start>
Status start_groups(const ThcBlocks& blocks, const Start& start) {
  return start_parts(blocks, kGroup, kEach, start);
}

// The places of kEach fields from one coordinate on, in a bucket's fields.
struct FieldPlace {
  const ThcRun* run;  // null: the block is not sent
  std::uint64_t byte;
};
inline __device__ FieldPlace field_place(const ThcFields& fields, BlockPlace block,
                                         std::uint32_t coordinate) {
  const ThcRun* run = fields.runs;
  std::uint64_t at = coordinate;
  if (fields.run_of_block != nullptr) {
    if (fields.run_of_block[block.index] == thc::FieldPlan::kNotSent) return {nullptr, 0};
    run += fields.run_of_block[block.index];
    at = std::uint64_t{fields.begin_of_block[block.index]} + coordinate % block.size;
  }
  return {run, run->start + at / 8 * run->bits};
}

inline __device__ thc::BlockRange range_at(const ThcBlocks& blocks, const ThcRun& run,
                                           const float* numbers, std::uint32_t block) {
  return thc::BlockRange::of(blocks.minmax, run.threshold,
                             numbers + std::size_t{block} * (blocks.minmax ? 2 : 1));
}

}  // namespace tributary::TRIBUTARY_DEVICE
