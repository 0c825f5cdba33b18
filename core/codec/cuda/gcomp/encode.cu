// Encodes chunks. The code lengths decide where every byte goes, so a first kernel measures
// segments (a warp for each), a second one plans a chunk, and the last one writes tiles at their
// final places.
//
// The coder works backwards: a stream's bits are its codes from the last step to the first, after
// eight zeros. Byte k of a stream is taken at the step with which its codes reach 8 (k + 1) bits.
// The state before a segment therefore follows from the bits of all later segments, and from the
// last 16 bits of the next one.
#include "core/codec/cuda/gcomp/layout.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using gcomp::LevelRule;

static_assert(kGCompChunkSegments == kWarpThreads);  // a warp plans a chunk

constexpr std::uint32_t kNotFinite = gcomp::kNotFiniteExponent;

// The inverse of gcomp::stream_at().
__device__ std::uint32_t turn_of(std::uint32_t stream) {
  return stream / 64 * 64 + stream % 2 * 32 + stream % 64 / 2;
}

// Chooses a chunk's level by a sample of every 16th block of 64 values.
__global__ void choose_levels(GCompEncoding g) {
  constexpr std::uint32_t kBlock = gcomp::kBlock;
  const std::uint32_t chunks = gcomp_chunks(g.n);
  for (std::uint32_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const std::uint32_t begin = chunk * kGCompChunk;
    const std::uint32_t size = min(kGCompChunk, g.n - begin);
    std::uint32_t sent = 0;
    std::uint32_t above = 0;
    for (std::uint32_t j = threadIdx.x; j < kGCompChunk / 16; j += kThreads) {
      const std::uint32_t i = j / kBlock * 16 * kBlock + j % kBlock;
      if (i >= size) break;
      const float value = g.x[begin + i];
      if (gcomp::exponent_of(__float_as_uint(value)) == 0) continue;
      ++sent;
      if (choose_level(g.rule, begin + i, value) > g.level) ++above;
    }
    sent = block_scan(sent).total;
    above = block_scan(above).total;
    if (threadIdx.x == 0) g.chunk_level[chunk] = 2 * above > sent ? g.level + 1 : g.level;
  }
}

// The counts of a thread in a segment: four neighbouring streams.
struct Measure {
  std::uint32_t windows[4] = {};
  std::uint32_t sums[4] = {};  // bits, and escapes << 12
  std::uint32_t counts = 0;    // a byte for each level
  std::uint32_t pruned_bits = 0;
};

// Adds value i to stream number `slot`, and returns its level.
template <LevelRule::Kind kKind>
__device__ std::uint32_t measure_value(const GCompEncoding& g, const std::uint32_t* entries,
                                       std::uint32_t padding, float value, std::uint32_t i,
                                       std::uint32_t fixed_level, unsigned slot, Measure& m) {
  const std::uint32_t bits = __float_as_uint(value);
  const std::uint32_t exponent = gcomp::exponent_of(bits);
  const bool exists = i < g.n;
  const std::uint32_t entry = entries[exists ? exponent : padding];
  m.windows[slot] = m.windows[slot] << code_bits(entry) | (entry & 0xffu);
  m.sums[slot] += entry >> 8;
  if (!exists) return 0;
  if (exponent == 0) {
    m.pruned_bits |= bits;
    return 0;
  }
  std::uint32_t level = exponent == kNotFinite ? 0 : fixed_level;
  if constexpr (kKind != LevelRule::Kind::fixed) level = choose_level(g.rule, i, value);
  m.counts += 1u << (8 * level);
  return level;
}

// A warp takes a segment, its lanes four neighbouring streams each, from the last step to the
// first.
template <LevelRule::Kind kKind>
__global__ void TRIBUTARY_BLOCKS_BY_CLANG(4) measure_segments(GCompEncoding g) {
  __shared__ std::uint32_t entries[gcomp::kExponents];
  const std::uint32_t padding = load_table(g, entries);
  const unsigned lane = threadIdx.x % kWarpThreads;
  const std::uint32_t segments = gcomp_segments(g.n);
  for (std::uint32_t segment = (blockIdx.x * kThreads + threadIdx.x) / kWarpThreads;
       segment < segments; segment += gridDim.x * kWarps) {
    const std::uint32_t begin = segment * kGCompSegment;
    const std::uint32_t steps = steps_of(g.n - begin);
    const std::uint32_t fixed_level =
        g.chunk_levels ? g.chunk_level[segment / kGCompChunkSegments] : g.level;
    Measure m;
    for (std::uint32_t group = kSegmentSteps / 4; group-- > 0;) {
      if (group * 4 >= steps) continue;
      float4 v[4] = {};
      for (unsigned k = 0; k < 4; ++k) {
        const std::uint32_t i = begin + (group * 4 + k) * kStreams + lane * 4;
        if (i < g.n) v[k] = load_quad(g.x, i, g.n);
      }
      std::uint32_t levels = 0;
      for (unsigned k = 4; k-- > 0;) {
        const std::uint32_t step = group * 4 + k;
        if (step >= steps) continue;
        const std::uint32_t i = begin + step * kStreams + lane * 4;
        const std::uint32_t four =
            measure_value<kKind>(g, entries, padding, v[k].x, i, fixed_level, 0, m) |
            measure_value<kKind>(g, entries, padding, v[k].y, i + 1, fixed_level, 1, m) << 2 |
            measure_value<kKind>(g, entries, padding, v[k].z, i + 2, fixed_level, 2, m) << 4 |
            measure_value<kKind>(g, entries, padding, v[k].w, i + 3, fixed_level, 3, m) << 6;
        levels |= four << (8 * k);
      }
      if constexpr (kKind != LevelRule::Kind::fixed) {
        g.levels[(segment * (kSegmentSteps / 4) + group) * kWarpThreads + lane] = levels;
      }
    }
    const auto state = [&m](unsigned slot) {
      return (m.sums[slot] & 0xfffu) << 16 | (m.windows[slot] & 0xffffu);
    };
    *reinterpret_cast<uint4*>(g.states + segment * kStreams + lane * 4) =
        make_uint4(state(0), state(1), state(2), state(3));
    const std::uint32_t sent01 =
        __reduce_add_sync(kAllLanes, (m.counts & 0xffu) | (m.counts & 0xff00u) << 8);
    const std::uint32_t sent23 =
        __reduce_add_sync(kAllLanes, (m.counts >> 16 & 0xffu) | (m.counts >> 24) << 16);
    const std::uint32_t escapes = __reduce_add_sync(
        kAllLanes, (m.sums[0] >> 12) + (m.sums[1] >> 12) + (m.sums[2] >> 12) + (m.sums[3] >> 12));
    const std::uint32_t pruned_bits = __reduce_or_sync(kAllLanes, m.pruned_bits);
    if (lane == 0) g.counts[segment] = {sent01, sent23, escapes, pruned_bits};
  }
}

// The sum of the lanes before this one, and of all lanes.
__device__ BlockScan warp_scan(std::uint32_t value) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  std::uint32_t sum = value;
  for (unsigned lanes = 1; lanes < kWarpThreads; lanes *= 2) {
    const std::uint32_t other = __shfl_up_sync(kAllLanes, sum, lanes);
    if (lane >= lanes) sum += other;
  }
  return {sum - value, __shfl_sync(kAllLanes, sum, kWarpThreads - 1)};
}

// Replaces the bits and windows of each segment by the state in which its coding starts, counts the
// bytes of the segments, and keeps the states with which the chunk begins.
__device__ void plan_streams(const GCompEncoding& g, std::uint32_t first, std::uint32_t count,
                             std::uint32_t (&bytes)[kGCompChunkSegments][kStreams / kWarpThreads],
                             ChunkPlan& plan) {
  constexpr std::uint32_t kGroup = 8;
  for (std::uint32_t stream = threadIdx.x; stream < kStreams; stream += kThreads) {
    std::uint32_t sum = 0;
    std::uint32_t window = 0;
    for (std::uint32_t group = (count + kGroup - 1) / kGroup; group-- > 0;) {
      // The loads of a group do not wait for one another.
      std::uint32_t measured[kGroup] = {};
      TRIBUTARY_UNROLL
      for (std::uint32_t k = 0; k < kGroup; ++k) {
        const std::uint32_t s = group * kGroup + k;
        if (s < count) measured[k] = g.states[(first + s) * kStreams + stream];
      }
      TRIBUTARY_UNROLL
      for (std::uint32_t k = kGroup; k-- > 0;) {
        const std::uint32_t s = group * kGroup + k;
        if (s >= count) continue;
        const std::uint32_t bits = 8 + sum % 8;
        g.states[(first + s) * kStreams + stream] = bits << 16 | (window & ((1u << bits) - 1));
        const std::uint32_t after = sum + (measured[k] >> 16);
        const std::uint32_t all = __reduce_add_sync(kAllLanes, after / 8 - sum / 8);
        if (stream % kWarpThreads == 0) bytes[s][stream / kWarpThreads] = all;
        sum = after;
        window = measured[k] & 0xffffu;
      }
    }
    const std::uint32_t bits = 8 + sum % 8;
    plan.states[turn_of(stream)] =
        static_cast<std::uint16_t>((window & ((1u << bits) - 1)) | 1u << bits);
  }
}

// A lane for each segment of the chunk.
__device__ void plan_segments(
    const GCompEncoding& g, std::uint32_t chunk, std::uint32_t count,
    const std::uint32_t (&bytes)[kGCompChunkSegments][kStreams / kWarpThreads]) {
  const unsigned lane = threadIdx.x;
  const std::uint32_t segment = chunk * kGCompChunkSegments + lane;
  const std::uint32_t size = min(kGCompChunk, g.n - chunk * kGCompChunk);
  const bool exists = lane < count;
  SegmentCounts counted = {};
  std::uint32_t own_bytes = 0;
  if (exists) {
    counted = g.counts[segment];
    for (const std::uint32_t part : bytes[lane]) own_bytes += part;
  }
  // Lossless encoding prunes zeros only, and nothing if the chunk has other values that pruning
  // would change.
  const bool pruned = !g.exact || __reduce_or_sync(kAllLanes, counted.pruned_bits) == 0;
  std::uint32_t own[kLevels] = {counted.sent01 & 0xffffu, counted.sent01 >> 16,
                                counted.sent23 & 0xffffu, counted.sent23 >> 16};
  if (!pruned && exists) own[0] = min(kGCompSegment, size - lane * kGCompSegment);

  ChunkPlan& plan = g.chunks[chunk];
  SegmentPlan part;
  std::uint32_t sent = 0;
  std::uint32_t dropped = 0;
  std::uint32_t totals[kLevels];
  for (unsigned level = 0; level < kLevels; ++level) {
    const BlockScan scan = warp_scan(own[level]);
    part.fields[level] = scan.before;
    part.counts[level] = own[level];
    totals[level] = scan.total;
    sent += scan.total;
    dropped += scan.total * truncated_bits(level);
  }
  const BlockScan byte_scan = warp_scan(own_bytes);
  const BlockScan escape_scan = warp_scan(counted.escapes);
  part.bytes = byte_scan.before;
  part.escapes = escape_scan.before;
  part.escape_count = counted.escapes;
  if (exists) g.segments[segment] = part;
  if (lane != 0) return;

  const std::uint32_t coded_bytes = byte_scan.total + escape_scan.total;
  plan.coded = g.coded && kStateBytes + coded_bytes < size ? 1 : 0;
  plan.pruned = pruned ? 1 : 0;
  plan.coded_bytes = byte_scan.total;
  plan.escapes = escape_scan.total;
  plan.sent = sent;
  plan.level = kLevels;
  for (unsigned level = kLevels; level-- > 0;) {
    plan.counts[level] = totals[level];
    if (totals[level] == sent) plan.level = level;
  }
  plan.exponents_end = kHeader + (plan.coded != 0 ? kStateBytes + coded_bytes : size);
  g.totals[chunk] = {fields_begin(plan, kLevels), escape_scan.total,
                     g.coded && coded_bytes >= size ? 1u : 0u, dropped};
}

__global__ void plan_chunks(GCompEncoding g) {
  __shared__ std::uint32_t bytes[kGCompChunkSegments][kStreams / kWarpThreads];
  const std::uint32_t chunks = gcomp_chunks(g.n);
  for (std::uint32_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const std::uint32_t first = chunk * kGCompChunkSegments;
    const std::uint32_t count = min(kGCompChunkSegments, gcomp_segments(g.n) - first);
    plan_streams(g, first, count, bytes, g.chunks[chunk]);
    __syncthreads();
    if (threadIdx.x < kWarpThreads) plan_segments(g, chunk, count, bytes);
    __syncthreads();  // before `bytes` is used again
  }
}

// Clears the words that two tiles write. Each thread has its own column of a level, or a row.
__device__ void clear_shared_words(const GCompEncoding& g, std::uint32_t chunk,
                                   const ChunkPlan& plan, std::uint32_t count) {
  constexpr std::uint32_t kAll = kLevels * kColumns;
  for (std::uint32_t at = threadIdx.x; at < kAll + 2; at += kThreads) {
    const unsigned level = at / kColumns;
    const std::uint32_t column = at % kColumns;
    for (std::uint32_t s = kTileSegments; s < count; s += kTileSegments) {
      const SegmentPlan& part = g.segments[chunk * kGCompChunkSegments + s];
      if (at < kAll) {
        const std::uint32_t field = part.fields[level];
        if (field == 0 || field == plan.counts[level]) continue;
        // The first bit of the tile's first field in this column.
        const std::uint32_t row = (field + kColumns - 1 - column) / kColumns;
        const std::uint32_t bit = row * sent_bits(level);
        if (bit % 32 == 0) continue;
        words_at(g, plan.begin + fields_begin(plan, level))[bit / 32 * kColumns + column] = 0;
      } else if (plan.level == kLevels) {
        std::uint32_t sent = 0;
        for (const std::uint32_t fields : part.fields) sent += fields;
        if (sent % 32 == 0 || sent == plan.sent) continue;
        words_at(g, plan.begin + rows_begin(plan) + (at - kAll) * row_bytes(plan))[sent / 32] = 0;
      }
    }
  }
}

// Finds the chunks' places, and writes the table of chunks and all that does not belong to tiles.
__global__ void start_chunks(GCompEncoding g) {
  const std::uint32_t chunks = gcomp_chunks(g.n);
  for (std::uint32_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    std::uint32_t before = 0;
    for (std::uint32_t other = threadIdx.x; other < chunk; other += kThreads) {
      before += g.totals[other].bytes;
    }
    const std::uint32_t begin = chunks * 4 + block_scan(before).total;
    ChunkPlan& plan = g.chunks[chunk];
    std::uint32_t* const head = words_at(g, begin);
    if (threadIdx.x == 0) {
      plan.begin = begin;
      words_at(g, 0)[chunk] = g.totals[chunk].bytes;
      head[0] = plan.coded != 0 ? plan.coded_bytes : 0;
      head[1] = plan.coded != 0 ? plan.escapes : 0;
      head[2] = plan.level | plan.pruned << 8 | plan.coded << 16;
      for (std::uint32_t at = plan.exponents_end; at % 4 != 0; ++at) g.body[begin + at] = 0;
    }
    if (plan.coded != 0) {
      for (std::uint32_t i = threadIdx.x; i < kStreams / 2; i += kThreads) {
        head[kHeader / 4 + i] =
            plan.states[2 * i] | static_cast<std::uint32_t>(plan.states[2 * i + 1]) << 16;
      }
    }
    __syncthreads();  // plan.begin
    clear_shared_words(g, chunk, plan,
                       min(kGCompChunkSegments, gcomp_segments(g.n) - chunk * kGCompChunkSegments));
  }
}

Status launch_measure(const Queue& queue, const GCompEncoding& g) {
  const LaunchShape shape = shape_for(queue, "measure_segments", g.n, kGCompSegment * kWarps);
  if (!g.values_have_levels()) return launch(measure_segments<LevelRule::Kind::fixed>, shape, g);
  return g.rule.kind == LevelRule::Kind::linear
             ? launch(measure_segments<LevelRule::Kind::linear>, shape, g)
             : launch(measure_segments<LevelRule::Kind::adaptive>, shape, g);
}

}  // namespace

Status encode_chunks(const Queue& queue, const GCompEncoding& g) {
  if (g.n == 0) return {};
  const std::uint32_t chunks = gcomp_chunks(g.n);
  if (g.chunk_levels) {
    TRIBUTARY_TRY(launch(choose_levels, shape_for(queue, "choose_levels", chunks, 1), g));
  }
  TRIBUTARY_TRY(launch_measure(queue, g));
  TRIBUTARY_TRY(launch(plan_chunks, shape_for(queue, "plan_chunks", chunks, 1), g));
  TRIBUTARY_TRY(launch(start_chunks, shape_for(queue, "start_chunks", chunks, 1), g));
  return write_tiles(queue, g);
}

}  // namespace tributary::TRIBUTARY_DEVICE
