// Stage 1 of THC: rotates the blocks of a bucket, rounds their coordinates to levels, packs these.
#include "core/codec/cuda/thc/rotation.h"
#include "core/codec/cuda/thc/spread.h"
#include "core/codec/thc/packing.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

// The result of a kernel: rotated coordinates, levels of one table, or levels of several tables
// (rate=).
enum class Spread { coordinates, levels, rated_levels };

struct SpreadCall {
  const float* x;  // values
  ThcBlocks blocks;
  const float* numbers;  // null: coordinates in the scale of the values
  ThcFields fields;
  thc::Rounding rounding;
  Part part;
  float* y;  // coordinates of the tiles, if a kernel writes or reads them
  std::uint8_t* out;
};

// Reads the values i .. i + kEach - 1, with zeros behind the bucket.
template <bool kTail>
__device__ void load_values(const float* x, std::uint32_t i, std::uint32_t n, float (&y)[kEach]) {
  for (unsigned k = 0; k < kEach; k += kPerThread) {
    const float4 quad = !kTail      ? *reinterpret_cast<const float4*>(x + i + k)
                        : i + k < n ? load_quad(x, i + k, n)
                                    : make_float4(0, 0, 0, 0);
    y[k] = quad.x;
    y[k + 1] = quad.y;
    y[k + 2] = quad.z;
    y[k + 3] = quad.w;
  }
}

// The factor of a block that has the run. All full blocks have the same scale.
template <bool kTail>
__device__ float factor_of(const SpreadCall& call, const ThcRun& run, const thc::BlockRange& range,
                           BlockPlace block) {
  if (range.is_zero()) return 0.0f;
  if constexpr (!kTail) return run.spread_scale / range.half;
  return range.encode_factor(run.granularity, call.blocks.rotated ? block.size : 1);
}

// The factor of a rotated block, whether it has levels or not.
template <bool kTail>
__device__ float rotation_factor(const SpreadCall& call, BlockPlace block) {
  if (call.numbers == nullptr) return 1.0f / square_root(static_cast<float>(block.size));
  const ThcRun* run = call.fields.runs;
  if (call.fields.run_of_block != nullptr) {
    if (call.fields.run_of_block[block.index] == thc::FieldPlan::kNotSent) return 0.0f;
    run += call.fields.run_of_block[block.index];
  }
  return factor_of<kTail>(call, *run, range_at(call.blocks, *run, call.numbers, block.index),
                          block);
}

// The first step of a worker: its values, in units of the grid, and four rounds of butterflies.
template <bool kTail>
__device__ void spread_first(const SpreadCall& call, std::uint32_t first, float (&y)[kEach]) {
  const ThcBlocks& blocks = call.blocks;
  load_values<kTail>(call.x, first, blocks.values, y);
  if (!exists<kTail>(blocks, first)) return;
  const BlockPlace block = block_at<kTail>(blocks, first);
  if (!blocks.rotated) {
    const ThcRun& run = *call.fields.runs;  // rate= has rotation
    const thc::BlockRange range = range_at(blocks, run, call.numbers, block.index);
    const float factor = factor_of<kTail>(call, run, range, block);
    const float offset = -range.centre * range.half;
    for (unsigned i = 0; i < kEach; ++i) y[i] = (y[i] + offset) * factor;
    return;
  }
  const float factor = rotation_factor<kTail>(call, block);
  const std::uint32_t word = random_bits(blocks.signs, first / thc::kSignsPerWord);
  for (unsigned i = 0; i < kEach; ++i) y[i] = y[i] * thc::signed_factor(factor, word, first + i);
  butterflies(y, [](unsigned, unsigned) { return true; });
}

// A table of levels, in shared or other memory.
struct Table {
  float granularity;
  const std::uint8_t* level_of_cell;
  const ThcStep* step_of_level;

  static __device__ Table of(const ThcRun& run) {
    return {run.granularity, run.level_of_cell, run.step_of_level};
  }
};

// The draws of a worker's coordinates: rounding_draw() with fewer operations, because the distance
// of the coordinates is a multiple of 32. A draw is in the high half of its word.
class Draws {
 public:
  __device__ Draws(const thc::Rounding& rounding, std::uint32_t first)
      : key_(rounding.key),
        flips_(rounding.flip * 0x10001u),
        shift_(std::uint32_t{rounding.shift} << 16),
        to_high_half_((first & 16) != 0 ? 1 : 0x10000),
        word_(first / 32 * 16 + first % 16) {}

  __device__ std::uint32_t at(std::uint32_t distance) const {
    const std::uint32_t word = random_bits(key_, word_ + distance / 2) ^ flips_;
    return (word * to_high_half_ + shift_) & 0xffff0000u;
  }

 private:
  StreamKey key_;
  std::uint32_t flips_;
  std::uint32_t shift_;
  std::uint32_t to_high_half_;
  std::uint32_t word_;
};

// `draw` is one of Draws. Powers of two move it without rounding.
__device__ std::uint8_t level_of(float y, const Table& table, std::uint32_t draw) {
  const float place = thc::clamp_to_grid(y + 0.5f * table.granularity, table.granularity);
  const std::uint8_t level = table.level_of_cell[static_cast<std::uint32_t>(place)];
  const ThcStep step = table.step_of_level[level];
  const bool up = static_cast<float>(draw) * step.per_draw < place - step.up_from;
  return static_cast<std::uint8_t>(level + (up ? 1 : 0));
}

// The distance of the rotated coordinates of a block from the centre of its range (range=minmax).
template <bool kTail>
__device__ float centre_offset(const SpreadCall& call, std::uint32_t coordinate) {
  if (!exists<kTail>(call.blocks, coordinate)) return 0.0f;
  const ThcRun& run = *call.fields.runs;  // rate= has no range=minmax
  const thc::BlockRange range =
      range_at(call.blocks, run, call.numbers, block_at<kTail>(call.blocks, coordinate).index);
  return range.centre_half_steps(run.granularity, 1) * -0.5f;
}

// Rounds the coordinates of a worker. levels[i * kWorkers + worker] is that of coordinate i.
// offsets[k] belongs to the kEach coordinates that are packed together.
template <std::uint32_t kStep>
__device__ void quantize_columns(const SpreadCall& call, const Table& table, Columns<kStep> columns,
                                 const float* offsets, unsigned worker, float (&y)[kEach],
                                 std::uint8_t* levels) {
  if (call.blocks.rotated && call.blocks.minmax) {
    for (unsigned i = 0; i < kEach; ++i) {
      const float offset = offsets[i * kEach + worker / kEach];
      if (offset != 0) y[i] = (y[i] + offset) * 1.0f;
    }
  }
  const Draws draws(call.rounding, columns.at(worker, 0));
  for (unsigned i = 0; i < kEach; ++i) {
    levels[i * kWorkers + worker] = level_of(y[i], table, draws.at(i * kStep));
  }
}

// The same with the table of each block.
template <bool kTail, std::uint32_t kStep>
__device__ void quantize_rated_columns(const SpreadCall& call, Columns<kStep> columns,
                                       unsigned worker, const float (&y)[kEach],
                                       std::uint8_t* levels) {
  const Draws draws(call.rounding, columns.at(worker, 0));
  for (unsigned i = 0; i < kEach; ++i) {
    const std::uint32_t coordinate = columns.at(worker, i);
    std::uint8_t level = 0;
    if (exists<kTail>(call.blocks, coordinate)) {
      const BlockPlace block = block_at<kTail>(call.blocks, coordinate);
      const std::uint8_t run = call.fields.run_of_block[block.index];
      if (run != thc::FieldPlan::kNotSent) {
        level = level_of(y[i], Table::of(call.fields.runs[run]), draws.at(i * kStep));
      }
    }
    levels[i * kWorkers + worker] = level;
  }
}

// Packs two words of levels into 2 * bits bytes.
__device__ void store_fields(std::uint64_t first, std::uint64_t second, unsigned bits,
                             std::uint8_t* out) {
  if (bits == 4) {
    constexpr thc::EightFields kNibbles(4);
    *reinterpret_cast<std::uint64_t*>(out) = kNibbles.packed(first) | kNibbles.packed(second) << 32;
    return;
  }
  if (bits == 8) {
    reinterpret_cast<std::uint64_t*>(out)[0] = first;
    reinterpret_cast<std::uint64_t*>(out)[1] = second;
    return;
  }
  const thc::EightFields eight(bits);
  const std::uint64_t behind = eight.packed(second);
  std::uint64_t low = eight.packed(first) | behind << (8 * bits);
  std::uint64_t high = behind >> (64 - 8 * bits);
  for (unsigned i = 0; i < bits; ++i) {
    reinterpret_cast<std::uint16_t*>(out)[i] = static_cast<std::uint16_t>(low);
    low = low >> 16 | high << 48;
    high >>= 16;
  }
}

__device__ std::uint64_t word_of(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

// Packs kEach levels of neighbouring coordinates from `coordinate` on.
template <bool kTail>
__device__ void pack_levels(const SpreadCall& call, std::uint32_t coordinate,
                            const std::uint8_t* levels) {
  if (!exists<kTail>(call.blocks, coordinate)) return;
  const BlockPlace block = block_at<kTail>(call.blocks, coordinate);
  const FieldPlace place = field_place(call.fields, block, coordinate);
  if (place.run == nullptr) return;
  uint4 words = *reinterpret_cast<const uint4*>(levels);
  // The fields of a block of zeros are never used, but they must be the same on all agents.
  if (range_at(call.blocks, *place.run, call.numbers, block.index).is_zero()) words = {};
  store_fields(word_of(words.x, words.y), word_of(words.z, words.w), place.run->bits,
               call.out + place.byte);
}

// The shared memory for a table: without `rate`, all coordinates have the same.
struct SharedTable {
  std::uint8_t* level_of_cell;
  ThcStep* step_of_level;

  __device__ Table copy_of(const ThcRun& run) const {
    const auto last = static_cast<unsigned>(run.granularity);
    for (unsigned i = threadIdx.x; i <= last; i += kThreads) {
      level_of_cell[i] = run.level_of_cell[i];
    }
    for (unsigned i = threadIdx.x; i < thc::levels_of(run.bits); i += kThreads) {
      step_of_level[i] = run.step_of_level[i];
    }
    return {run.granularity, level_of_cell, step_of_level};
  }
};

// The last step of a tile or a group: four rounds of butterflies in columns, then levels or
// coordinates. `load(worker, y)` reads what the steps before have left. All threads of a block must
// call it. Before `levels` is used again, the threads must meet at a barrier.
template <Spread kSpread, bool kTail, std::uint32_t kStep, typename Load>
__device__ void finish_columns(const SpreadCall& call, const Table& table, Columns<kStep> columns,
                               const float* offsets, std::uint8_t* levels, const Load& load) {
  for_each_worker([&](unsigned worker) {
    float y[kEach];
    load(worker, y);
    if (call.blocks.rotated) {
      rotate<kTail>(call.blocks, columns.at(worker, 0), columns.step, y);
    }
    if constexpr (kSpread == Spread::coordinates) {
      store_columns<kTail>(call.blocks, y, columns, worker, call.y);
    } else if constexpr (kSpread == Spread::levels) {
      quantize_columns(call, table, columns, offsets, worker, y, levels);
    } else {
      quantize_rated_columns<kTail>(call, columns, worker, y, levels);
    }
  });
  if constexpr (kSpread != Spread::coordinates) {
    __syncthreads();
    for_each_worker([&](unsigned worker) {
      pack_levels<kTail>(call, columns.at(worker % kEach * kEach, worker / kEach),
                         levels + worker * kEach);
    });
  }
}

template <Spread kSpread, bool kTail>
__global__ void __launch_bounds__(kThreads, 4) spread_tiles(SpreadCall call) {
  __shared__ float tile_values[kTileWords];
  alignas(16) __shared__ std::uint8_t levels[kSpread == Spread::coordinates ? 16 : kTile];
  __shared__ float offsets[kWorkers];
  __shared__ std::uint8_t level_of_cell[thc::kGranularityMax + 1];
  __shared__ ThcStep step_of_level[thc::levels_of(thc::kBitsMax)];
  Table table = {};
  if constexpr (kSpread == Spread::levels) {
    table = SharedTable{level_of_cell, step_of_level}.copy_of(*call.fields.runs);
  }
  const ThcBlocks& blocks = call.blocks;
  for (std::uint32_t tile = call.part.begin + blockIdx.x; tile < call.part.end; tile += gridDim.x) {
    const std::uint32_t begin = tile * kTile;
    for_each_worker([&](unsigned worker) {
      float y[kEach];
      spread_first<kTail>(call, begin + worker * kEach, y);
      store_shared<1>(y, worker * kEach, tile_values);
      if constexpr (kSpread == Spread::levels) {
        if (blocks.minmax) offsets[worker] = centre_offset<kTail>(call, begin + worker * kEach);
      }
    });
    __syncthreads();
    if (blocks.rotated) rotate_middle<kTail>(blocks, begin, tile_values);
    __syncthreads();
    finish_columns<kSpread, kTail>(
        call, table, columns_of_tile(tile), offsets, levels,
        [&](unsigned worker, float(&y)[kEach]) { load_shared<kWorkers>(tile_values, worker, y); });
    // Levels have a barrier between the last use of the tile and the next tile.
    if constexpr (kSpread == Spread::coordinates) __syncthreads();
  }
}

// The last rounds of blocks that are larger than a tile.
template <Spread kSpread, bool kTail>
__global__ void __launch_bounds__(kThreads, 4) spread_groups(SpreadCall call) {
  alignas(16) __shared__ std::uint8_t levels[kSpread == Spread::coordinates ? 16 : kTile];
  __shared__ float offsets[kWorkers];
  __shared__ std::uint8_t level_of_cell[thc::kGranularityMax + 1];
  __shared__ ThcStep step_of_level[thc::levels_of(thc::kBitsMax)];
  Table table = {};
  if constexpr (kSpread == Spread::levels) {
    table = SharedTable{level_of_cell, step_of_level}.copy_of(*call.fields.runs);
  }
  for (std::uint32_t piece = call.part.begin + blockIdx.x; piece < call.part.end;
       piece += gridDim.x) {
    const GroupColumns columns = columns_of_group(piece);
    if constexpr (kSpread == Spread::levels) {
      for_each_worker([&](unsigned worker) {
        const std::uint32_t coordinate = columns.at(worker % kEach * kEach, worker / kEach);
        if (call.blocks.minmax) offsets[worker] = centre_offset<kTail>(call, coordinate);
      });
    }
    __syncthreads();  // before the use of the offsets and the table, and of `levels` again
    finish_columns<kSpread, kTail>(call, table, columns, offsets, levels,
                                   [&](unsigned worker, float(&y)[kEach]) {
                                     load_columns<kTail>(call.blocks, call.y, columns, worker, y);
                                   });
  }
}

template <Spread kSpread>
Status launch_tiles(const Queue& queue, SpreadCall call) {
  return start_tiles(call.blocks, [&](Part part, auto tail) {
    call.part = part;
    return launch(spread_tiles<kSpread, tail()>,
                  shape_for(queue, "spread_tiles", part.end - part.begin, 1), call);
  });
}

template <Spread kSpread>
Status launch_spread(const Queue& queue, SpreadCall call) {
  if (!call.blocks.needs_scratch()) return launch_tiles<kSpread>(queue, call);
  TRIBUTARY_TRY(launch_tiles<Spread::coordinates>(queue, call));
  return start_groups(call.blocks, [&](Part part, auto tail) {
    call.part = part;
    return launch(spread_groups<kSpread, tail()>,
                  shape_for(queue, "spread_groups", part.end - part.begin, 1), call);
  });
}

}  // namespace

Status spread_values(const Queue& queue, const float* x, const ThcBlocks& blocks, float* y) {
  return launch_spread<Spread::coordinates>(queue, {.x = x,
                                                    .blocks = blocks,
                                                    .numbers = nullptr,
                                                    .fields = {},
                                                    .rounding = {},
                                                    .part = {},
                                                    .y = y,
                                                    .out = nullptr});
}

Status encode_levels(const Queue& queue, const float* x, const ThcBlocks& blocks,
                     const float* numbers, const ThcFields& fields, const thc::Rounding& rounding,
                     float* scratch, std::uint8_t* out) {
  const SpreadCall call = {.x = x,
                           .blocks = blocks,
                           .numbers = numbers,
                           .fields = fields,
                           .rounding = rounding,
                           .part = {},
                           .y = scratch,
                           .out = out};
  if (fields.run_of_block != nullptr) return launch_spread<Spread::rated_levels>(queue, call);
  return launch_spread<Spread::levels>(queue, call);
}

}  // namespace tributary::TRIBUTARY_DEVICE
