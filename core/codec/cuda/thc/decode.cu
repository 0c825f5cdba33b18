// Decodes THC's fields: unpacks them, moves them to the centre of the grid, and rotates them back.
#include "core/codec/cuda/thc/rotation.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

struct CollectCall {
  const std::uint8_t* in;
  ThcBlocks blocks;
  const float* numbers;
  ThcFields fields;
  ThcFieldKind kind;
  Part part;
  float* y;  // coordinates of the tiles, for blocks that are larger
  float* x;
  ThcFlags* flags;
};

// The last step multiplies kEach neighbouring coordinates by the factor with these signs.
struct ChunkFactor {
  float factor;  // 0: the values are zeros
  std::uint32_t signs;
};

template <bool kTail>
__device__ ChunkFactor chunk_factor(const CollectCall& call, std::uint32_t coordinate) {
  const ThcBlocks& blocks = call.blocks;
  if (!exists<kTail>(blocks, coordinate)) return {0.0f, 0};
  const BlockPlace block = block_at<kTail>(blocks, coordinate);
  const ThcRun* const run = field_place(call.fields, block, coordinate).run;
  if (run == nullptr) return {0.0f, 0};
  const thc::BlockRange range = range_at(blocks, *run, call.numbers, block.index);
  if (range.is_zero()) return {0.0f, 0};
  if (!blocks.rotated) return {1.0f, 0};
  return {range.decode_factor(run->granularity, block.size),
          random_bits(blocks.signs, coordinate / thc::kSignsPerWord)};
}

// Reads kEach fields from a byte on, a multiple of 2 * bits.
__device__ void load_fields(const std::uint8_t* in, std::uint64_t byte, unsigned bits,
                            std::uint32_t (&field)[kEach]) {
  if (bits == 4) {
    const uint2 words = *reinterpret_cast<const uint2*>(in + byte);
    for (unsigned i = 0; i < kEach; ++i) {
      field[i] = (i < 8 ? words.x : words.y) >> (4 * (i % 8)) & 15u;
    }
    return;
  }
  if (bits == 8) {
    const auto* const pairs = reinterpret_cast<const uint2*>(in + byte);
    for (unsigned i = 0; i < kEach; ++i) {
      const uint2 words = pairs[i / 8];
      field[i] = (i % 8 < 4 ? words.x : words.y) >> (8 * (i % 4)) & 255u;
    }
    return;
  }
  const auto* const words = reinterpret_cast<const std::uint32_t*>(in) + byte / 4;
  auto at = static_cast<unsigned>(byte % 4 * 8);
  for (unsigned i = 0; i < kEach; ++i, at += bits) {
    std::uint32_t value = words[at / 32] >> (at % 32);
    if (at % 32 + bits > 32) value |= words[at / 32 + 1] << (32 - at % 32);
    field[i] = value & (0xffffffffu >> (32 - bits));
  }
}

// The first step of a worker: its fields as multiples of half a grid step, and four rounds of
// butterflies. Returns false if a sum is too large.
template <bool kTail>
__device__ bool collect_first(const CollectCall& call, std::uint32_t first, float (&y)[kEach]) {
  for (unsigned i = 0; i < kEach; ++i) y[i] = 0.0f;
  const ThcBlocks& blocks = call.blocks;
  if (!exists<kTail>(blocks, first)) return true;
  const BlockPlace block = block_at<kTail>(blocks, first);
  const FieldPlace place = field_place(call.fields, block, first);
  if (place.run == nullptr) return true;
  const ThcRun& run = *place.run;

  std::uint32_t field[kEach];
  load_fields(call.in, place.byte, run.bits, field);
  const auto granularity = static_cast<std::uint32_t>(run.granularity);
  const std::uint32_t most = call.kind.sums ? granularity * call.kind.contributors : granularity;
  bool within = true;
  for (unsigned i = 0; i < kEach; ++i) {
    std::uint32_t sum = call.kind.sums ? field[i] : run.places[field[i]];
    if (sum > most) {
      within = false;
      sum = 0;
    }
    y[i] = static_cast<float>(static_cast<std::int32_t>(2 * sum - most));
  }

  const thc::BlockRange range = range_at(blocks, run, call.numbers, block.index);
  if (range.is_zero()) return within;
  const float offset = range.centre_half_steps(run.granularity, call.kind.contributors);
  if (!blocks.rotated) {
    const float factor = range.decode_factor(run.granularity, 1);
    for (unsigned i = 0; i < kEach; ++i) y[i] = (y[i] + offset) * factor;
    return within;
  }
  if (offset != 0) {
    for (unsigned i = 0; i < kEach; ++i) y[i] = (y[i] + offset) * 1.0f;
  }
  butterflies(y, [](unsigned, unsigned) { return true; });
  return within;
}

// Writes the values of a worker's columns. Returns the largest magnitude as bits.
template <bool kTail, std::uint32_t kStep>
__device__ std::uint32_t store_values(const CollectCall& call, Columns<kStep> columns,
                                      const ChunkFactor* chunks, unsigned worker,
                                      const float (&y)[kEach]) {
  std::uint32_t largest = 0;
  float* const column = call.x + columns.at(worker, 0);
  for (unsigned i = 0; i < kEach; ++i) {
    const std::uint32_t coordinate = columns.at(worker, i);
    const ChunkFactor chunk = chunks[i * kEach + worker / kEach];
    const float factor = thc::signed_factor(chunk.factor, chunk.signs, coordinate);
    const float value = chunk.factor != 0 ? y[i] * factor : 0.0f;
    largest = max(largest, magnitude_bits(value));
    if (!kTail || coordinate < call.blocks.values) column[i * kStep] = value;
  }
  return largest;
}

// Raises a flag of all blocks of threads, once for each.
__device__ void raise(bool raised, std::uint32_t* flag) {
  const std::uint32_t any = block_max(raised ? 1 : 0);
  if (threadIdx.x == 0 && any != 0) atomicMax(flag, 1);
}

// kWhole: no block is larger than a tile, so that the result are values.
template <bool kWhole, bool kTail>
__global__ void __launch_bounds__(kThreads, 4) collect_tiles(CollectCall call) {
  __shared__ float tile_values[kTileWords];
  __shared__ ChunkFactor chunks[kWorkers];
  const ThcBlocks& blocks = call.blocks;
  bool within = true;
  std::uint32_t largest = 0;
  for (std::uint32_t tile = call.part.begin + blockIdx.x; tile < call.part.end; tile += gridDim.x) {
    const std::uint32_t begin = tile * kTile;
    for_each_worker([&](unsigned worker) {
      const std::uint32_t first = begin + worker * kEach;
      float y[kEach];
      if (!collect_first<kTail>(call, first, y)) within = false;
      store_shared<1>(y, worker * kEach, tile_values);
      if constexpr (kWhole) chunks[worker] = chunk_factor<kTail>(call, first);
    });
    __syncthreads();
    if (blocks.rotated) rotate_middle<kTail>(blocks, begin, tile_values);
    __syncthreads();
    for_each_worker([&](unsigned worker) {
      const TileColumns columns = columns_of_tile(tile);
      float y[kEach];
      load_shared<kWorkers>(tile_values, worker, y);
      if (blocks.rotated) rotate<kTail>(blocks, columns.at(worker, 0), columns.step, y);
      if constexpr (kWhole) {
        largest = max(largest, store_values<kTail>(call, columns, chunks, worker, y));
      } else {
        store_columns<kTail>(blocks, y, columns, worker, call.y);
      }
    });
    __syncthreads();  // before the shared memory is used again
  }
  raise(!within, &call.flags->too_large);
  if constexpr (kWhole) raise(largest >= kInfinityBits, &call.flags->not_finite);
}

// The last rounds of blocks that are larger than a tile.
template <bool kTail>
__global__ void __launch_bounds__(kThreads, 4) collect_groups(CollectCall call) {
  __shared__ ChunkFactor chunks[kWorkers];
  const ThcBlocks& blocks = call.blocks;
  std::uint32_t largest = 0;
  for (std::uint32_t piece = call.part.begin + blockIdx.x; piece < call.part.end;
       piece += gridDim.x) {
    const GroupColumns columns = columns_of_group(piece);
    for_each_worker([&](unsigned worker) {
      chunks[worker] =
          chunk_factor<kTail>(call, columns.at(worker % kEach * kEach, worker / kEach));
    });
    __syncthreads();
    for_each_worker([&](unsigned worker) {
      float y[kEach];
      load_columns<kTail>(blocks, call.y, columns, worker, y);
      rotate<kTail>(blocks, columns.at(worker, 0), columns.step, y);
      largest = max(largest, store_values<kTail>(call, columns, chunks, worker, y));
    });
    __syncthreads();  // before `chunks` is used again
  }
  raise(largest >= kInfinityBits, &call.flags->not_finite);
}

template <bool kWhole>
Status launch_tiles(const Queue& queue, CollectCall call) {
  return start_tiles(call.blocks, [&](Part part, auto tail) {
    call.part = part;
    return launch(collect_tiles<kWhole, tail()>,
                  shape_for(queue, "collect_tiles", part.end - part.begin, 1), call);
  });
}

}  // namespace

Status decode_fields(const Queue& queue, const std::uint8_t* in, const ThcBlocks& blocks,
                     const float* numbers, const ThcFields& fields, const ThcFieldKind& kind,
                     float* scratch, float* x, ThcFlags* flags) {
  CollectCall call = {.in = in,
                      .blocks = blocks,
                      .numbers = numbers,
                      .fields = fields,
                      .kind = kind,
                      .part = {},
                      .y = scratch,
                      .x = x,
                      .flags = flags};
  if (!blocks.needs_scratch()) return launch_tiles<true>(queue, call);
  TRIBUTARY_TRY(launch_tiles<false>(queue, call));
  return start_groups(blocks, [&](Part part, auto tail) {
    call.part = part;
    return launch(collect_groups<tail()>,
                  shape_for(queue, "collect_groups", part.end - part.begin, 1), call);
  });
}

}  // namespace tributary::TRIBUTARY_DEVICE
