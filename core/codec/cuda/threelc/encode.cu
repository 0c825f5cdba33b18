#include "core/codec/cuda/threelc/threelc.h"

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/lanes.h"
#include "core/codec/cuda/threelc/tiles.h"
#include "core/codec/threelc/elements.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using threelc::kFirstRunByte;
using threelc::kRunMax;
using threelc::kZeroByte;
using threelc::Quartic;
using threelc::TwoBit;

constexpr std::uint32_t kRunBytes = kRunMax;

// Returns the sum of all threads of a block, to each of them. The order of additions depends on
// kThreads.
__device__ double block_sum(double value) {
  __shared__ double warps[kWarps];
  for (unsigned lanes = kWarpThreads / 2; lanes > 0; lanes /= 2) {
    value += from_above(value, lanes);
  }
  if (threadIdx.x % kWarpThreads == 0) warps[threadIdx.x / kWarpThreads] = value;
  __syncthreads();
  value = 0;
  for (unsigned warp = 0; warp < kWarps; ++warp) value += warps[warp];
  __syncthreads();  // before the next use of `warps`
  return value;
}

// Copies the values that are not packed.
__global__ void __launch_bounds__(kThreads) gather_plain(TernaryEncoding e) {
  std::uint32_t seen = 0;
  auto* const out = reinterpret_cast<float*>(e.body);
  for (std::uint32_t i = blockIdx.x; i < e.tables.plain_count; i += gridDim.x) {
    const PlainPart part = e.tables.plain[i];
    for (std::uint32_t k = threadIdx.x; k < part.count; k += kThreads) {
      const float value = e.x[part.offset + k];
      seen = max(seen, magnitude_bits(value));
      out[part.at + k] = value;
    }
  }
  seen = block_max(seen);
  if (threadIdx.x == 0) atomicMax(&e.result->largest, seen);
}

constexpr unsigned kBatch = 4;  // quads of a thread in flight

__device__ std::uint32_t largest_of(float4 v) {
  return max(max(magnitude_bits(v.x), magnitude_bits(v.y)),
             max(magnitude_bits(v.z), magnitude_bits(v.w)));
}

// The square of a value in units of 2^(2 * (top - 150)), rounded down. No exponent exceeds `top`;
// that of a denormal is 1.
__device__ std::uint64_t scaled_square(float value, std::uint32_t top) {
  const std::uint32_t bits = magnitude_bits(value);
  const std::uint32_t exponent = max(bits >> 23, 1u);
  const std::uint64_t mantissa = bits - ((exponent - 1) << 23);
  return mantissa * mantissa >> min(2 * (top - exponent), 63u);
}

// The sum of the squares of a batch whose largest magnitude is given. It is added in integers,
// because many GPUs have few units for double. A square has 48 bits, so the sum is exact in double;
// what the squares lose is less than 2^-41 of it.
__device__ double squares_of(const float4 (&v)[kBatch], std::uint32_t largest) {
  const std::uint32_t top = max(largest >> 23, 1u);
  std::uint64_t sum = 0;
  for (unsigned k = 0; k < kBatch; ++k) {
    sum += scaled_square(v[k].x, top) + scaled_square(v[k].y, top) + scaled_square(v[k].z, top) +
           scaled_square(v[k].w, top);
  }
  const auto unit = std::bit_cast<double>(std::uint64_t{1023 + 2 * top - 300} << 52);
  return static_cast<double>(sum) * unit;
}

// Measures as many values as a tile has digits. They are not the values of the tile's own digits,
// but all tiles of a part together cover the part, which is enough.
template <bool kSquares>
__global__ void __launch_bounds__(kThreads) survey_tiles(TernaryEncoding e, std::uint32_t digits) {
  constexpr std::uint32_t kStride = kThreads * kPerThread;
  for (std::uint32_t at = blockIdx.x; at < e.tables.tile_count; at += gridDim.x) {
    const PackedTile tile = e.tables.tiles[at];
    const PackedPart part = e.tables.parts[tile.part];
    const std::uint32_t begin = part.offset + tile.begin * digits;
    const std::uint32_t end = part.offset + min(part.count, tile.end * digits);
    // Quads from `first` to `last`, and up to three values at each end.
    const std::uint32_t first = min(end, quads_of(begin) * kPerThread);
    const std::uint32_t last = max(first, end / kPerThread * kPerThread);
    std::uint32_t largest = 0;
    double squares = 0;
    const auto add = [&](const float4(&v)[kBatch]) {
      std::uint32_t of_batch = 0;
      for (unsigned k = 0; k < kBatch; ++k) of_batch = max(of_batch, largest_of(v[k]));
      largest = max(largest, of_batch);
      if constexpr (kSquares) squares += squares_of(v, of_batch);
    };
    if (threadIdx.x < kPerThread) {
      float4 ends[kBatch] = {};
      if (begin + threadIdx.x < first) ends[0].x = e.x[begin + threadIdx.x];
      if (last + threadIdx.x < end) ends[0].y = e.x[last + threadIdx.x];
      add(ends);
    }
    for (std::uint32_t i = first + threadIdx.x * kPerThread; i < last; i += kBatch * kStride) {
      float4 v[kBatch] = {};
      for (unsigned k = 0; k < kBatch; ++k) {
        if (i + k * kStride < last) v[k] = *reinterpret_cast<const float4*>(e.x + i + k * kStride);
      }
      add(v);
    }
    largest = block_max(largest);
    if constexpr (kSquares) squares = block_sum(squares);
    if (threadIdx.x == 0) {
      e.largest[at] = largest;
      if constexpr (kSquares) e.squares[at] = squares;
    }
  }
}

// Adds the squares of a part in the order of the scalar specification: sixteen lanes per chunk,
// then the chunks. Called by all threads of a block. It is slow, because the order leaves little
// to do at the same time. `sums` has room for one sum per chunk.
template <class P>
__device__ double ordered_squares(const float* x, const PackedPart& part, double* sums) {
  constexpr std::uint32_t kChunkDigits = kChunkBytes * P::kDigits;
  constexpr unsigned kAtOnce = kThreads / kSumLanes;
  constexpr unsigned kSteps = 16;  // loads in flight
  const unsigned lane = threadIdx.x % kSumLanes;
  const std::uint32_t chunks = (part.count + kChunkDigits - 1) / kChunkDigits;
  for (std::uint32_t first = 0; first < chunks; first += kAtOnce) {
    const std::uint32_t chunk = first + threadIdx.x / kSumLanes;
    const std::uint32_t begin = chunk < chunks ? chunk * kChunkDigits : part.count;
    const std::uint32_t end = min(part.count, begin + kChunkDigits);
    double sum = 0;
    for (std::uint32_t at = begin + lane; at < end; at += kSteps * kSumLanes) {
      float v[kSteps];
      for (unsigned k = 0; k < kSteps; ++k) {
        const std::uint32_t i = at + k * kSumLanes;
        v[k] = i < end ? x[part.offset + i] : 0.0f;
      }
      for (unsigned k = 0; k < kSteps; ++k) {
        // Adding 0 changes nothing, because no sum is -0.
        sum += static_cast<double>(v[k]) * static_cast<double>(v[k]);
      }
    }
    sum = add_lanes(sum);
    if (lane == 0 && chunk < chunks) sums[chunk] = sum;
  }
  __syncthreads();
  double total = 0;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) total += sums[chunk];
  return total;
}

// Finds M of every part. M is a float32 that grows with the sum of squares. If the sums at both
// ends of the margin give the same M, then so does the specification's order. Only about one part
// of ten thousand needs the sum in that order.
template <class P>
__global__ void __launch_bounds__(kThreads) find_units(TernaryEncoding e) {
  const float sparsity = e.format.sparsity;
  const double clip = e.format.clip;
  const double margin = e.format.order_margin;
  auto* const units = reinterpret_cast<float*>(e.body + e.tables.units_at);
  std::uint32_t seen = 0;
  for (std::uint32_t i = blockIdx.x; i < e.tables.part_count; i += gridDim.x) {
    const PackedPart part = e.tables.parts[i];
    std::uint32_t largest = 0;
    double squares = 0;
    for (std::uint32_t k = threadIdx.x; k < part.tiles; k += kThreads) {
      largest = max(largest, e.largest[part.first_tile + k]);
      if (clip > 0) squares += e.squares[part.first_tile + k];
    }
    largest = block_max(largest);
    seen = max(seen, largest);
    float unit = threelc::unit_of(std::bit_cast<float>(largest), sparsity);
    if (clip > 0) {
      squares = block_sum(squares);
      const float low =
          threelc::clipped_unit(unit, squares * (1 - margin), part.count, sparsity, clip);
      const float high =
          threelc::clipped_unit(unit, squares * (1 + margin), part.count, sparsity, clip);
      if (low != high) {
        squares = ordered_squares<P>(e.x, part, e.squares + part.first_tile);
        unit = threelc::clipped_unit(unit, squares, part.count, sparsity, clip);
      } else {
        unit = low;
      }
    }
    if (threadIdx.x == 0) units[i] = unit;
  }
  if (threadIdx.x == 0) atomicMax(&e.result->largest, seen);
}

// Reads up to four values from x[i] on, with zeros beyond `valid` of them.
__device__ float4 load_up_to_four(const float* x, std::uint32_t i, std::uint32_t valid) {
  if (valid == kPerThread && i % kPerThread == 0) return *reinterpret_cast<const float4*>(x + i);
  float4 v = {};
  if (valid > 0) v.x = x[i];
  if (valid > 1) v.y = x[i + 1];
  if (valid > 2) v.z = x[i + 2];
  if (valid > 3) v.w = x[i + 3];
  return v;
}

// The digits of four values plus 1, one per byte.
template <bool kRandom>
__device__ std::uint32_t digits_of(float4 v, float unit, float level, StreamKey key,
                                   std::uint32_t element) {
  const auto digit = [&](float x, std::uint32_t i) {
    if constexpr (kRandom) {
      level = threelc::random_level(unit, random_bits(key, element + i));
    }
    return static_cast<std::uint32_t>(threelc::digit_of(x, level) + 1);
  };
  return digit(v.x, 0) | digit(v.y, 1) << 8 | digit(v.z, 2) << 16 | digit(v.w, 3) << 24;
}

// Packs up to four bytes from byte `at` of a part on. No digit's place carries into the next byte.
template <class P, bool kRandom>
__device__ std::uint32_t pack_word(const float* x, const PackedPart& part, std::uint32_t at,
                                   std::uint32_t bytes, float unit, float level, StreamKey key) {
  float4 v[P::kDigits];
  for (unsigned j = 0; j < P::kDigits; ++j) {
    const std::uint32_t index = j * part.bytes + at;
    v[j] = load_up_to_four(x, part.offset + index, values_in(bytes, part.count, index));
  }
  std::uint32_t word = 0;
  for (unsigned j = 0; j < P::kDigits; ++j) {
    word = word * kBaseOf<P> +
           digits_of<kRandom>(v[j], unit, level, key, part.offset + j * part.bytes + at);
  }
  return word;
}

// The packed bytes of a thread, for zero runs.
struct ThreadBytes {
  uint4 words;
  std::uint32_t valid;   // bytes
  std::uint32_t others;  // bit i is set if byte i is valid and not the zero byte

  __device__ std::uint32_t word(unsigned i) const {
    return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
  }
  __device__ bool is_other(unsigned i) const { return (others >> i & 1) != 0; }
  // Index of the last other byte plus 1; 0 if there is none.
  __device__ std::uint32_t others_end() const {
    return kWarpThreads - static_cast<std::uint32_t>(__clz(others));
  }
};

// A bit for each of the four bytes that is not the zero byte.
__device__ std::uint32_t others_in(std::uint32_t word) {
  const std::uint32_t x = word ^ kZeroWord;
  const std::uint32_t high = (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
  return (high >> 7) * 0x10204080u >> 28;
}

__device__ ThreadBytes bytes_of_thread(uint4 words, std::uint32_t size) {
  const std::uint32_t begin = threadIdx.x * kThreadBytes;
  const std::uint32_t valid = begin < size ? min(kThreadBytes, size - begin) : 0;
  const std::uint32_t others = others_in(words.x) | others_in(words.y) << 4 |
                               others_in(words.z) << 8 | others_in(words.w) << 12;
  return {words, valid, others & ((1u << valid) - 1)};
}

// Calls use(byte) for every coded byte of a thread's bytes. `phase` is the length modulo kRunBytes
// of the run that continues into them. A run's whole groups are coded at their last byte, and the
// rest of it before the byte that ends the run. Returns the phase behind the last byte.
template <typename Use>
__device__ std::uint32_t code_bytes(const ThreadBytes& bytes, std::uint32_t phase, const Use& use) {
  for (unsigned i = 0; i < kThreadBytes; ++i) {
    if (i >= bytes.valid) break;
    if (bytes.is_other(i)) {
      if (phase > 0) use(phase == 1 ? kZeroByte : kFirstRunByte - 2 + phase);
      use(byte_of(bytes.word(i / 4), i % 4));
      phase = 0;
    } else if (++phase == kRunBytes) {
      use(kFirstRunByte - 2 + kRunBytes);
      phase = 0;
    }
  }
  return phase;
}

// Where the other bytes of a tile are, in bytes of the tile.
struct Others {
  std::uint32_t before_end;  // behind the last one before this thread; 0 if there is none
  std::uint32_t begin;       // of the first one of the tile; its size if there is none
  std::uint32_t end;         // behind the last one of the tile; 0 if there is none
};

// Called by all threads of a block.
__device__ Others find_others(const ThreadBytes& bytes, std::uint32_t size) {
  __shared__ std::uint32_t begins[kWarps];
  __shared__ std::uint32_t ends[kWarps];
  const unsigned lane = threadIdx.x % kWarpThreads;
  const unsigned warp = threadIdx.x / kWarpThreads;
  const std::uint32_t begin = threadIdx.x * kThreadBytes;
  const std::uint32_t own_end = bytes.others == 0 ? 0 : begin + bytes.others_end();
  const std::uint32_t own_begin =
      bytes.others == 0 ? size : begin + static_cast<std::uint32_t>(__ffs(bytes.others)) - 1;
  const std::uint32_t have = __ballot_sync(kAllLanes, bytes.others != 0);
  const std::uint32_t have_before = have & ((1u << lane) - 1);
  const unsigned last_before =
      have_before == 0 ? 0 : kWarpThreads - 1 - static_cast<unsigned>(__clz(have_before));
  const std::uint32_t end_before = __shfl_sync(kAllLanes, own_end, last_before);
  const std::uint32_t warp_end = __reduce_max_sync(kAllLanes, own_end);
  const std::uint32_t warp_begin =
      __shfl_sync(kAllLanes, own_begin, have == 0 ? 0 : static_cast<unsigned>(__ffs(have)) - 1);
  if (lane == 0) {
    begins[warp] = warp_begin;
    ends[warp] = warp_end;
  }
  __syncthreads();
  Others others = {have_before == 0 ? 0 : end_before, size, 0};
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w < warp && have_before == 0) others.before_end = max(others.before_end, ends[w]);
    others.begin = min(others.begin, begins[w]);
    others.end = max(others.end, ends[w]);
  }
  __syncthreads();  // before the next use of the arrays
  return others;
}

// The phase of the run that continues into a thread's bytes; `entering` is the length of the run
// that continues into the tile.
__device__ std::uint32_t phase_before(const Others& others, std::uint32_t entering) {
  const std::uint32_t begin = threadIdx.x * kThreadBytes;
  return (others.before_end > 0 ? begin - others.before_end : begin + entering) % kRunBytes;
}

template <class P, bool kRandom, bool kZeroRun>
__global__ void __launch_bounds__(kThreads) pack_tiles(TernaryEncoding e) {
  __shared__ uint4 words[kThreads];
  const auto* const units = reinterpret_cast<const float*>(e.body + e.tables.units_at);
  for (std::uint32_t at = blockIdx.x; at < e.tables.tile_count; at += gridDim.x) {
    const PackedTile tile = e.tables.tiles[at];
    const PackedPart part = e.tables.parts[tile.part];
    const float unit = units[tile.part];
    const float level = kRandom ? 0.0f : threelc::nearest_level(unit);
    const std::uint32_t size = tile.end - tile.begin;
    for (std::uint32_t i = threadIdx.x * 4; i < size; i += kThreads * 4) {
      const std::uint32_t bytes = min(4, size - i);
      const std::uint32_t word =
          pack_word<P, kRandom>(e.x, part, tile.begin + i, bytes, unit, level, e.format.key);
      if constexpr (kZeroRun) {
        reinterpret_cast<std::uint32_t*>(words)[i / 4] = word;
      } else {
        store_up_to_four(e.body + e.tables.chunks_at + tile.packed_at + i, bytes, word);
      }
    }
    if constexpr (kZeroRun) {
      __syncthreads();
      const ThreadBytes bytes = bytes_of_thread(words[threadIdx.x], size);
      if (bytes.valid > 0) {
        reinterpret_cast<uint4*>(e.packed + tile.packed_at)[threadIdx.x] = bytes.words;
      }
      const Others others = find_others(bytes, size);  // a barrier before the next use of `words`
      std::uint32_t coded = 0;
      code_bytes(bytes, phase_before(others, 0), [&](std::uint32_t) { ++coded; });
      coded = block_scan(coded).total;
      if (threadIdx.x == 0) e.runs[at] = {others.begin, size - others.end, coded};
    }
  }
}

// The coded bytes of a run of `lead` zero bytes at the start of a tile. The rest of a run is coded
// if it ends there.
__device__ std::uint32_t coded_lead(std::uint32_t entering, std::uint32_t lead, bool ends) {
  const std::uint32_t run = entering + lead;
  return run / kRunBytes - entering / kRunBytes + (ends && run % kRunBytes != 0 ? 1 : 0);
}

__device__ bool ends_chunk(const PackedTile& tile, std::uint32_t part_bytes) {
  return tile.end == part_bytes || tile.end % kChunkBytes == 0;
}
__device__ std::uint32_t tiles_before_in_chunk(const PackedTile& tile) {
  return tile.begin % kChunkBytes / kTileBytes;
}

// The number of coded bytes of a tile, and the length of the run that continues into it.
struct TileCode {
  std::uint32_t entering;
  std::uint32_t bytes;
};
__device__ TileCode tile_code(const TernaryEncoding& e, std::uint32_t at) {
  const PackedTile tile = e.tables.tiles[at];
  const std::uint32_t size = tile.end - tile.begin;
  std::uint32_t entering = 0;
  for (std::uint32_t k = 1; k <= tiles_before_in_chunk(tile); ++k) {
    const std::uint32_t tail = e.runs[at - k].tail;
    entering += tail;
    if (tail < kTileBytes) break;
  }
  const TileRuns runs = e.runs[at];
  const bool has_others = runs.lead < size;
  std::uint32_t bytes = runs.coded - coded_lead(0, runs.lead, has_others) +
                        coded_lead(entering, runs.lead, has_others);
  if (ends_chunk(tile, e.tables.parts[tile.part].bytes)) {
    const std::uint32_t run = has_others ? runs.tail : entering + size;
    if (run % kRunBytes != 0) ++bytes;
  }
  return {entering, bytes};
}

// Finds the place of every tile's coded bytes. One block, whose threads take several neighbouring
// tiles, so that their loads are in flight together.
__global__ void __launch_bounds__(kThreads) place_tiles(TernaryEncoding e) {
  constexpr unsigned kEach = 4;
  std::uint32_t total = 0;
  for (std::uint32_t begin = 0; begin < e.tables.tile_count; begin += kThreads * kEach) {
    const std::uint32_t first = begin + threadIdx.x * kEach;
    TileCode codes[kEach] = {};
    std::uint32_t bytes = 0;
    for (unsigned k = 0; k < kEach; ++k) {
      if (first + k < e.tables.tile_count) codes[k] = tile_code(e, first + k);
      bytes += codes[k].bytes;
    }
    const BlockScan scan = block_scan(bytes);
    std::uint32_t before = total + scan.before;
    for (unsigned k = 0; k < kEach; ++k) {
      if (first + k < e.tables.tile_count) {
        e.entering[first + k] = codes[k].entering;
        e.before[first + k] = before;
      }
      before += codes[k].bytes;
    }
    total += scan.total;
  }
  if (threadIdx.x == 0) {
    e.before[e.tables.tile_count] = total;
    e.result->chunk_bytes = total;
  }
}

// Writes the coded bytes and the lengths of the chunks.
__global__ void __launch_bounds__(kThreads) write_runs(TernaryEncoding e) {
  __shared__ std::uint8_t coded[kTileBytes + 4];  // one more than a tile has
  for (std::uint32_t at = blockIdx.x; at < e.tables.tile_count; at += gridDim.x) {
    const PackedTile tile = e.tables.tiles[at];
    const std::uint32_t size = tile.end - tile.begin;
    const bool is_last = ends_chunk(tile, e.tables.parts[tile.part].bytes);
    uint4 words = {};
    if (threadIdx.x * kThreadBytes < size) {
      words = reinterpret_cast<const uint4*>(e.packed + tile.packed_at)[threadIdx.x];
    }
    const ThreadBytes bytes = bytes_of_thread(words, size);
    const std::uint32_t phase = phase_before(find_others(bytes, size), e.entering[at]);
    const bool closes =
        is_last && bytes.valid > 0 && threadIdx.x * kThreadBytes + bytes.valid == size;
    std::uint32_t count = 0;
    const std::uint32_t rest = code_bytes(bytes, phase, [&](std::uint32_t) { ++count; });
    if (closes && rest > 0) ++count;
    const BlockScan scan = block_scan(count);
    std::uint32_t to = scan.before;
    const auto put = [&](std::uint32_t byte) { coded[to++] = static_cast<std::uint8_t>(byte); };
    code_bytes(bytes, phase, put);
    if (closes && rest > 0) put(rest == 1 ? kZeroByte : kFirstRunByte - 2 + rest);
    __syncthreads();
    std::uint8_t* const out = e.body + e.tables.chunks_at + e.before[at];
    for (std::uint32_t i = threadIdx.x; i < scan.total; i += kThreads) out[i] = coded[i];
    if (is_last && threadIdx.x == 0) {
      reinterpret_cast<std::uint16_t*>(e.body + e.tables.lengths_at)[tile.chunk] =
          static_cast<std::uint16_t>(e.before[at + 1] - e.before[at - tiles_before_in_chunk(tile)]);
    }
    __syncthreads();  // before the next use of `coded`
  }
}

template <class P>
Status find_levels(const Queue& queue, const TernaryEncoding& e) {
  const std::uint32_t tiles = e.tables.tile_count;
  TRIBUTARY_TRY(launch(e.format.clip > 0 ? survey_tiles<true> : survey_tiles<false>,
                       shape_for(queue, "survey_tiles", tiles, 1), e, std::uint32_t{P::kDigits}));
  return launch(find_units<P>, shape_for(queue, "find_units", e.tables.part_count, 1), e);
}

template <class P, bool kRandom, bool kZeroRun>
Status pack(const Queue& queue, const TernaryEncoding& e) {
  return launch(pack_tiles<P, kRandom, kZeroRun>,
                shape_for(queue, "pack_tiles", e.tables.tile_count, 1), e);
}

}  // namespace

std::uint32_t ternary_tile_bytes() { return kTileBytes; }

Status encode_ternary(const Queue& queue, const TernaryEncoding& e) {
  if (e.tables.plain_count > 0) {
    TRIBUTARY_TRY(
        launch(gather_plain, shape_for(queue, "gather_plain", e.tables.plain_count, 1), e));
  }
  if (e.tables.tile_count == 0) return {};
  if (e.format.two_bit) {
    TRIBUTARY_TRY(find_levels<TwoBit>(queue, e));
    return pack<TwoBit, true, false>(queue, e);
  }
  TRIBUTARY_TRY(find_levels<Quartic>(queue, e));
  if (e.format.random_digits) return pack<Quartic, true, false>(queue, e);
  if (!e.format.zero_run) return pack<Quartic, false, false>(queue, e);
  TRIBUTARY_TRY((pack<Quartic, false, true>(queue, e)));
  TRIBUTARY_TRY(launch(place_tiles, shape_for(queue, "place_tiles", 1, 1), e));
  return launch(write_runs, shape_for(queue, "write_runs", e.tables.tile_count, 1), e);
}

}  // namespace tributary::TRIBUTARY_DEVICE
