// Writes the tiles of chunks at their final places (encode.cu): codes, escapes, levels and
// fractions.
#include <bit>

#include "core/codec/cuda/gcomp/layout.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

// A tile of a chunk, in shared memory.
struct TileMemory {
  alignas(16) std::uint32_t fractions[kTile];  // written four at a time
  alignas(4) std::uint8_t exponents[kTile];
  std::uint32_t bytes[kTile / 4 + 1];  // coded exponents
  std::uint16_t places[kTile];         // of the fields of level 0, of level 1, ...
  std::uint32_t masks[3][kTileWords];
  std::uint32_t before[2][kTileWords];
  std::uint32_t entries[gcomp::kExponents];
  std::uint32_t rows[2][kTileWords + 1];
};

// The same for all threads of a block. It lies in shared memory, because the registers are few.
struct Tile {
  std::uint32_t begin;    // in the bucket
  std::uint32_t size;     // in values
  std::uint32_t segment;  // the first
  std::uint32_t segments;
  std::uint32_t fixed_level;
  std::uint32_t escapes;
  std::uint32_t fields[kLevels];
  std::uint32_t counts[kLevels];
};

// The sum of `counts(word)` of the words before each one.
template <typename Count>
__device__ void scan_words(std::uint32_t* before, const Count& count) {
  std::uint32_t total = 0;
  for (std::uint32_t first = 0; first < kTileWords; first += kThreads) {
    const std::uint32_t word = first + threadIdx.x;
    const BlockScan scan = block_scan(word < kTileWords ? count(word) : 0);
    if (word < kTileWords) before[word] = total + scan.before;
    total += scan.total;
  }
  __syncthreads();
}

__device__ __forceinline__ void load_tile(const GCompEncoding& g, const Tile& tile,
                                          std::uint32_t padding, TileMemory& m) {
  const float* const x = g.x + tile.begin;
  for (std::uint32_t quad = threadIdx.x; quad < kTile / 4; quad += kThreads) {
    const std::uint32_t i = quad * 4;
    const float4 v = i < tile.size ? load_quad(x, i, tile.size) : make_float4(0, 0, 0, 0);
    const auto exponent = [&](float value, std::uint32_t at) {
      return static_cast<std::uint8_t>(at < tile.size ? gcomp::exponent_of(__float_as_uint(value))
                                                      : padding);
    };
    *reinterpret_cast<uchar4*>(m.exponents + i) = make_uchar4(
        exponent(v.x, i), exponent(v.y, i + 1), exponent(v.z, i + 2), exponent(v.w, i + 3));
    const auto fraction = [](float value) { return gcomp::fraction_of(__float_as_uint(value)); };
    *reinterpret_cast<uint4*>(m.fractions + i) =
        make_uint4(fraction(v.x), fraction(v.y), fraction(v.z), fraction(v.w));
  }
  __syncthreads();
}

// Copies bytes of shared memory to the body. They begin at byte offset % 4 of `words`.
__device__ void write_bytes(const GCompEncoding& g, const std::uint32_t* words,
                            std::uint32_t offset, std::uint32_t count) {
  const std::uint32_t begin = offset % 4;
  const std::uint32_t end = begin + count;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words);
  for (std::uint32_t word = threadIdx.x; word * 4 < end; word += kThreads) {
    if (word * 4 >= begin && word * 4 + 4 <= end) {
      words_at(g, offset - begin)[word] = words[word];
      continue;
    }
    for (std::uint32_t at = max(word * 4, begin); at < min(word * 4 + 4, end); ++at) {
      g.body[offset - begin + at] = bytes[at];
    }
  }
}

// Codes the exponents of a tile. A thread has one stream of one segment at a time.
__device__ __forceinline__ void code_tile(const GCompEncoding& g, const Tile& tile,
                                          const ChunkPlan& plan, TileMemory& m) {
  constexpr std::uint32_t kUnits = kTileSegments * kStreams;
  constexpr std::uint32_t kRounds = (kUnits + kThreads - 1) / kThreads;
  static_assert(kUnits % kThreads == 0);
  std::uint32_t given[kRounds][kSegmentSteps / 4] = {};
  const unsigned lane = threadIdx.x % kWarpThreads;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t unit = round * kThreads + threadIdx.x;
    const std::uint32_t part = unit / kStreams;
    const std::uint32_t turn = unit % kStreams;
    const auto stream = static_cast<std::uint32_t>(gcomp::stream_at(turn));
    const std::uint32_t steps =
        part < tile.segments ? steps_of(tile.size - part * kGCompSegment) : 0;
    const std::uint32_t start = steps > 0 ? g.states[(tile.segment + part) * kStreams + stream] : 0;
    std::uint32_t bits = start >> 16;
    std::uint32_t window = start & 0xffffu;
    TRIBUTARY_UNROLL
    for (std::uint32_t step = kSegmentSteps; step-- > 0;) {
      std::uint32_t gives = 0;
      if (step < steps) {
        const std::uint32_t entry =
            m.entries[m.exponents[(part * kSegmentSteps + step) * kStreams + stream]];
        const std::uint32_t length = code_bits(entry);
        const bool full = bits + length >= 16;
        gives = __ballot_sync(kAllLanes, full);
        const std::uint32_t kept = full ? bits - 8 : bits;
        if (full) given[round][step / 4] |= (window >> kept) << (step % 4 * 8);
        window = (window & ((1u << kept) - 1)) << length | (entry & 0xffu);
        bits = kept + length;
      }
      if (lane == 0) m.masks[0][(part * kSegmentSteps + step) * 4 + turn / 32] = gives;
    }
  }
  __syncthreads();
  scan_words(m.before[0], [&m](std::uint32_t word) {
    return static_cast<std::uint32_t>(__popc(m.masks[0][word]));
  });

  const SegmentPlan& first = g.segments[tile.segment];
  const std::uint32_t offset = plan.begin + kHeader + kStateBytes + first.bytes;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(m.bytes) + offset % 4;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t unit = round * kThreads + threadIdx.x;
    const std::uint32_t word_of_unit = unit / kStreams * (kSegmentSteps * 4) + unit % kStreams / 32;
    TRIBUTARY_UNROLL
    for (std::uint32_t step = 0; step < kSegmentSteps; ++step) {
      const std::uint32_t word = word_of_unit + step * 4;
      const std::uint32_t mask = m.masks[0][word];
      if ((mask >> lane & 1u) == 0) continue;
      bytes[m.before[0][word] + static_cast<std::uint32_t>(__popc(mask & ((1u << lane) - 1)))] =
          static_cast<std::uint8_t>(given[round][step / 4] >> (step % 4 * 8));
    }
  }
  __syncthreads();
  const std::uint32_t last = kTileWords - 1;
  write_bytes(g, m.bytes, offset,
              m.before[0][last] + static_cast<std::uint32_t>(__popc(m.masks[0][last])));
}

// Writes the escaped exponents in the order of the values. A warp has 32 neighbouring values.
__device__ __forceinline__ void write_escapes(const GCompEncoding& g, const Tile& tile,
                                              const ChunkPlan& plan, TileMemory& m) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  __syncthreads();  // before the masks are used again
  for (std::uint32_t word = threadIdx.x / kWarpThreads; word < kTileWords; word += kWarps) {
    const std::uint32_t i = word * 32 + lane;
    const bool escaped = i < tile.size && (m.entries[m.exponents[i]] & kEscapeEntry) != 0;
    const std::uint32_t mask = __ballot_sync(kAllLanes, escaped);
    if (lane == 0) m.masks[0][word] = mask;
  }
  __syncthreads();
  scan_words(m.before[0], [&m](std::uint32_t word) {
    return static_cast<std::uint32_t>(__popc(m.masks[0][word]));
  });
  std::uint8_t* const out = g.body + plan.begin + kHeader + kStateBytes + plan.coded_bytes +
                            g.segments[tile.segment].escapes;
  for (std::uint32_t word = threadIdx.x / kWarpThreads; word < kTileWords; word += kWarps) {
    const std::uint32_t mask = m.masks[0][word];
    if ((mask >> lane & 1u) == 0) continue;
    out[m.before[0][word] + static_cast<std::uint32_t>(__popc(mask & ((1u << lane) - 1)))] =
        m.exponents[word * 32 + lane];
  }
}

// The number of rows of fields that fill whole words.
constexpr std::uint32_t rows_of_group(std::uint32_t bits) {
  return 32u >> static_cast<unsigned>(std::countr_zero(bits));
}

// Packs whole groups of rows whose fields fill whole words. A thread takes one column of a group.
template <unsigned kBits, typename Field>
__device__ void pack_groups(std::uint32_t* words, std::uint32_t count, const Field& field) {
  constexpr std::uint32_t kRows = rows_of_group(kBits);
  constexpr std::uint32_t kWords = kRows * kBits / 32;
  for (std::uint32_t at = threadIdx.x; at < count / kRows; at += kThreads) {
    const std::uint32_t group = at / kColumns;
    const std::uint32_t column = at % kColumns;
    std::uint32_t* const out = words + group * kWords * kColumns + column;
    std::uint32_t packed = 0;
    TRIBUTARY_UNROLL
    for (std::uint32_t row = 0; row < kRows; ++row) {
      const std::uint32_t value = field((group * kRows + row) * kColumns + column);
      const std::uint32_t shift = row * kBits % 32;
      packed |= value << shift;
      if (shift + kBits < 32) continue;
      out[row * kBits / 32 * kColumns] = packed;
      packed = shift + kBits > 32 ? value >> (32 - shift) : 0;
    }
  }
}

// Packs the fields first .. first + count - 1 of the `total` fields of a level. field(i) returns
// field first + i. Words that have fields of other tiles as well are completed by atomic
// operations.
template <unsigned kLevel, typename Field>
__device__ void pack_fields(std::uint32_t* words, std::uint32_t first, std::uint32_t count,
                            std::uint32_t total, const Field& field) {
  constexpr std::uint32_t kBits = sent_bits(kLevel);
  constexpr std::uint32_t kRowsMax = (31 + kBits - 1) / kBits + 1;
  if (count == 0) return;
  constexpr std::uint32_t kGroupFields = rows_of_group(kBits) * kColumns;
  if (first % kGroupFields == 0 && count % kGroupFields == 0) {
    return pack_groups<kBits>(words + first / 32 * kBits, count, field);
  }
  const std::uint32_t begin = first / kColumns * kBits / 32 * kColumns;
  const std::uint32_t end =
      (((first + count - 1) / kColumns * kBits + kBits - 1) / 32 + 1) * kColumns;
  for (std::uint32_t word = begin + threadIdx.x; word < end; word += kThreads) {
    const std::uint32_t bit = word / kColumns * 32;
    const std::uint32_t row = bit / kBits;
    std::uint32_t packed = 0;
    bool own = false;
    bool others = false;
    TRIBUTARY_UNROLL
    for (std::uint32_t k = 0; k < kRowsMax; ++k) {
      const std::uint32_t at = (row + k) * kColumns + word % kColumns;
      const std::uint32_t from = (row + k) * kBits;
      if (from >= bit + 32 || at >= total) continue;
      if (at - first >= count) {
        others = true;
        continue;
      }
      own = true;
      const std::uint32_t value = field(at - first);
      packed |= from >= bit ? value << (from - bit) : value >> (bit - from);
    }
    if (own && others) {
      atomicOr(words + word, packed);
    } else if (own || (!others && first + count == total)) {
      words[word] = packed;
    }
  }
}

// Calls pack_fields() for a level that is known at run time.
template <typename Field>
__device__ void pack_level(unsigned level, std::uint32_t* words, std::uint32_t first,
                           std::uint32_t count, std::uint32_t total, const Field& field) {
  switch (level) {
    case 0:
      return pack_fields<0>(words, first, count, total, field);
    case 1:
      return pack_fields<1>(words, first, count, total, field);
    case 2:
      return pack_fields<2>(words, first, count, total, field);
    default:
      return pack_fields<3>(words, first, count, total, field);
  }
}

// The level of value i of a tile that is sent.
__device__ __forceinline__ std::uint32_t level_at(const GCompEncoding& g, const Tile& tile,
                                                  std::uint32_t i, std::uint32_t exponent) {
  if (!g.values_have_levels()) return exponent == gcomp::kNotFiniteExponent ? 0 : tile.fixed_level;
  const std::uint32_t step = i / kStreams;
  const std::uint32_t word =
      (tile.segment * (kSegmentSteps / 4) + step / 4) * kWarpThreads + i % kStreams / 4;
  return g.levels[word] >> (step % 4 * 8 + i % 4 * 2) & 3u;
}

// The values of a level among the sent ones of a word.
__device__ std::uint32_t mask_of(const TileMemory& m, std::uint32_t word, unsigned level) {
  const std::uint32_t low = m.masks[1][word];
  const std::uint32_t high = m.masks[2][word];
  return m.masks[0][word] & ((level & 1u) != 0 ? low : ~low) & ((level & 2u) != 0 ? high : ~high);
}

__device__ std::uint32_t count_of(const TileMemory& m, std::uint32_t word, unsigned level) {
  return static_cast<std::uint32_t>(__popc(mask_of(m, word, level)));
}

// Moves the bits that `mask` selects together at the low end.
__device__ std::uint32_t gather_word(std::uint32_t bits, std::uint32_t mask) {
  std::uint32_t out = 0;
  for (unsigned i = 0; mask != 0; ++i, mask &= mask - 1) {
    const auto lowest = static_cast<unsigned>(__ffs(mask)) - 1;
    out |= (bits >> lowest & 1u) << i;
  }
  return out;
}

// Finds the places of the fields of each level (m.places), and the masks.
__device__ __forceinline__ void find_places(const GCompEncoding& g, const Tile& tile, bool pruned,
                                            TileMemory& m) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  __syncthreads();  // before the masks are used again
  for (std::uint32_t word = threadIdx.x / kWarpThreads; word < kTileWords; word += kWarps) {
    const std::uint32_t i = word * 32 + lane;
    const std::uint32_t exponent = m.exponents[i];
    const bool sent = i < tile.size && !(pruned && exponent == 0);
    const std::uint32_t level = sent ? level_at(g, tile, i, exponent) : 0;
    const std::uint32_t mask = __ballot_sync(kAllLanes, sent);
    const std::uint32_t low = __ballot_sync(kAllLanes, (level & 1u) != 0);
    const std::uint32_t high = __ballot_sync(kAllLanes, (level & 2u) != 0);
    if (lane != 0) continue;
    m.masks[0][word] = mask;
    m.masks[1][word] = low;
    m.masks[2][word] = high;
  }
  __syncthreads();
  // Two sums in a word: a tile has fewer than 2^16 values.
  for (unsigned pair = 0; pair < 2; ++pair) {
    scan_words(m.before[pair], [&m, pair](std::uint32_t word) {
      return count_of(m, word, 2 * pair) | count_of(m, word, 2 * pair + 1) << 16;
    });
  }
  for (std::uint32_t word = threadIdx.x / kWarpThreads; word < kTileWords; word += kWarps) {
    std::uint32_t begin = 0;
    TRIBUTARY_UNROLL
    for (unsigned level = 0; level < kLevels; ++level) {
      const std::uint32_t mask = mask_of(m, word, level);
      if ((mask >> lane & 1u) != 0) {
        const std::uint32_t before = m.before[level / 2][word] >> (level % 2 * 16) & 0xffffu;
        m.places[begin + before + static_cast<std::uint32_t>(__popc(mask & ((1u << lane) - 1)))] =
            static_cast<std::uint16_t>(word * 32 + lane);
      }
      begin += tile.counts[level];
    }
  }
  __syncthreads();
}

// Writes the two bits of each sent value's level to the rows.
__device__ __forceinline__ void write_levels(const GCompEncoding& g, const Tile& tile,
                                             const ChunkPlan& plan, TileMemory& m) {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  TRIBUTARY_UNROLL
  for (unsigned level = 0; level < kLevels; ++level) {
    first += tile.fields[level];
    count += tile.counts[level];
  }
  for (std::uint32_t word = threadIdx.x; word <= kTileWords; word += kThreads) {
    m.rows[0][word] = 0;
    m.rows[1][word] = 0;
  }
  __syncthreads();
  for (std::uint32_t word = threadIdx.x; word < kTileWords; word += kThreads) {
    const std::uint32_t pairs[2] = {m.before[0][word], m.before[1][word]};
    const std::uint32_t bit = first % 32 + (pairs[0] & 0xffffu) + (pairs[0] >> 16) +
                              (pairs[1] & 0xffffu) + (pairs[1] >> 16);
    for (unsigned row = 0; row < 2; ++row) {
      const std::uint32_t bits = gather_word(m.masks[1 + row][word], m.masks[0][word]);
      atomicOr(&m.rows[row][bit / 32], bits << (bit % 32));
      if (bit % 32 != 0 && bits >> (32 - bit % 32) != 0) {
        atomicOr(&m.rows[row][bit / 32 + 1], bits >> (32 - bit % 32));
      }
    }
  }
  __syncthreads();
  if (count == 0) return;
  const bool at_end = first + count == plan.sent;
  // The last word of 64 bits is complete.
  const std::uint32_t end = at_end ? row_bytes(plan) / 4 : (first + count + 31) / 32;
  for (unsigned row = 0; row < 2; ++row) {
    std::uint32_t* const out = words_at(g, plan.begin + rows_begin(plan) + row * row_bytes(plan));
    for (std::uint32_t word = first / 32 + threadIdx.x; word < end; word += kThreads) {
      const bool others = word * 32 < first || (word * 32 + 32 > first + count && !at_end);
      const std::uint32_t own = word - first / 32;
      const std::uint32_t bits = own <= kTileWords ? m.rows[row][own] : 0;
      if (others) {
        atomicOr(out + word, bits);
      } else {
        out[word] = bits;
      }
    }
  }
}

__device__ __forceinline__ void write_fractions(const GCompEncoding& g, const Tile& tile,
                                                const ChunkPlan& plan, TileMemory& m) {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  TRIBUTARY_UNROLL
  for (unsigned level = 0; level < kLevels; ++level) {
    first += tile.fields[level];
    count += tile.counts[level];
  }
  // The common case: the tile's values are all sent, and the chunk has one level.
  if (plan.level != kLevels && count == tile.size) {
    pack_level(plan.level, words_at(g, plan.begin + fields_begin(plan, plan.level)), first, count,
               plan.sent, [&m, shift = truncated_bits(plan.level)](std::uint32_t i) {
                 return m.fractions[i] >> shift;
               });
    return;
  }
  find_places(g, tile, plan.pruned != 0, m);
  if (plan.level == kLevels) write_levels(g, tile, plan, m);
  std::uint32_t begin = 0;
  TRIBUTARY_UNROLL
  for (unsigned level = 0; level < kLevels; ++level) {
    pack_level(level, words_at(g, plan.begin + fields_begin(plan, level)), tile.fields[level],
               tile.counts[level], plan.counts[level], [&m, level, begin](std::uint32_t i) {
                 return m.fractions[m.places[begin + i]] >> truncated_bits(level);
               });
    begin += tile.counts[level];
  }
}

__device__ void describe_tile(const GCompEncoding& g, std::uint32_t index, Tile& tile) {
  const std::uint32_t segments = gcomp_segments(g.n);
  tile.begin = index * kTile;
  tile.size = min(kTile, g.n - tile.begin);
  tile.segment = index * kTileSegments;
  tile.segments = min(kTileSegments, segments - tile.segment);
  tile.fixed_level = g.chunk_levels ? g.chunk_level[index / kChunkTiles] : g.level;
  tile.escapes = 0;
  for (unsigned level = 0; level < kLevels; ++level) {
    tile.fields[level] = g.segments[tile.segment].fields[level];
    tile.counts[level] = 0;
  }
  for (std::uint32_t s = 0; s < tile.segments; ++s) {
    const SegmentPlan& part = g.segments[tile.segment + s];
    tile.escapes += part.escape_count;
    for (unsigned level = 0; level < kLevels; ++level) tile.counts[level] += part.counts[level];
  }
}

__global__ void TRIBUTARY_BLOCKS_BY_CLANG(4) write_chunk_tiles(GCompEncoding g) {
  __shared__ TileMemory m;
  __shared__ Tile tile;
  const std::uint32_t padding = load_table(g, m.entries);
  const std::uint32_t segments = gcomp_segments(g.n);
  const std::uint32_t tiles = (segments + kTileSegments - 1) / kTileSegments;
  for (std::uint32_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const std::uint32_t chunk = index / kChunkTiles;
    const ChunkPlan& plan = g.chunks[chunk];
    if (threadIdx.x == 0) describe_tile(g, index, tile);
    __syncthreads();
    load_tile(g, tile, padding, m);
    if (plan.coded != 0) {
      code_tile(g, tile, plan, m);
      if (tile.escapes > 0) write_escapes(g, tile, plan, m);
    } else {
      write_bytes(g, reinterpret_cast<const std::uint32_t*>(m.exponents),
                  plan.begin + kHeader + index % kChunkTiles * kTile, tile.size);
    }
    write_fractions(g, tile, plan, m);
    __syncthreads();  // before shared memory is used again
  }
}

}  // namespace

Status write_tiles(const Queue& queue, const GCompEncoding& g) {
  return launch(write_chunk_tiles, shape_for(queue, "write_chunk_tiles", g.n, kTile), g);
}

}  // namespace tributary::TRIBUTARY_DEVICE
