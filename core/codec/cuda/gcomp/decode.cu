// Decodes chunks, whose bytes are untrusted. One warp reads the exponents of a chunk, because the
// place of each byte depends on all bytes before it. It checks all that the specification checks,
// and every read against the chunk's end. Other blocks then join tiles of the chunks that are
// sound.
#include "core/codec/cuda/block.h"
#include "core/codec/cuda/gcomp/gcomp.h"
#include "core/codec/gcomp/chunk.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using gcomp::kExponents;
using gcomp::kLevels;
using gcomp::packed_words;
using gcomp::plane_bytes;
using gcomp::sent_bits;
using gcomp::truncated_bits;

constexpr std::uint32_t kColumns = gcomp::kColumns;
constexpr std::uint32_t kStreams = gcomp::kStreams;
constexpr std::uint32_t kHeader = gcomp::kChunkHeaderBytes;
constexpr std::uint32_t kStateBytes = kStreams * sizeof(std::uint16_t);
constexpr std::uint32_t kTile = 4096;
constexpr std::uint32_t kTileSteps = kTile / kStreams;
constexpr std::uint32_t kTileWords = kTile / 32;
constexpr std::uint32_t kChunkTiles = kGCompChunk / kTile;
constexpr unsigned kTurns = kStreams / kWarpThreads;  // streams of a lane

__device__ std::uint32_t count_bits(std::uint32_t bits) {
  return static_cast<std::uint32_t>(__popc(bits));
}

__device__ const std::uint32_t* words_of(const std::uint8_t* at) {
  return reinterpret_cast<const std::uint32_t*>(at);
}

// A chunk while it is read. All lanes of the warp have the same values.
struct Reading {
  const std::uint8_t* chunk;
  std::uint32_t size;      // of the chunk, in bytes
  std::uint32_t position;  // of the next part
  std::uint32_t n;         // values
  std::uint8_t* exponents;

  // Returns false if fewer than `count` bytes remain.
  __device__ bool take(std::uint32_t count) {
    if (count > size - position) return false;
    position += count;
    return true;
  }
};

__device__ std::uint32_t round_to_4(std::uint32_t bytes) { return (bytes + 3) / 4 * 4; }

__device__ std::uint32_t warp_sum(std::uint32_t value) {
  return __reduce_add_sync(kAllLanes, value);
}
__device__ bool any_lane(bool value) { return __ballot_sync(kAllLanes, value) != 0; }

// Keeps the number of sent values before a tile, and adds those of the tile.
struct SentCount {
  DecodePlan& plan;
  std::uint32_t total = 0;

  __device__ void add(std::uint32_t tile, std::uint32_t own) {
    if (threadIdx.x == 0) plan.sent_before[tile] = total;
    total += warp_sum(own);
  }
};

__device__ bool copy_raw(Reading& r, bool prune, SentCount& sent) {
  const std::uint32_t* const in = words_of(r.chunk + r.position);
  if (!r.take(round_to_4(r.n))) return false;
  auto* const out = reinterpret_cast<std::uint32_t*>(r.exponents);
  for (std::uint32_t tile = 0; tile * kTile < r.n; ++tile) {
    std::uint32_t own = 0;
    for (std::uint32_t at = threadIdx.x; at < kTile / 4; at += kWarpThreads) {
      const std::uint32_t word = tile * (kTile / 4) + at;
      if (word * 4 >= r.n) break;
      const std::uint32_t four = in[word];
      out[word] = four;
      for (unsigned k = 0; k < 4; ++k) {
        if (word * 4 + k < r.n && !(prune && (four >> (8 * k) & 0xffu) == 0)) ++own;
      }
    }
    sent.add(tile, own);
  }
  return true;
}

// The streams of a lane: lane + 32 * turn in the order in which they take bytes.
struct Streams {
  std::uint32_t windows[kTurns];
  std::uint32_t bits[kTurns];
};

__device__ bool start_streams(const std::uint8_t* states, Streams& s) {
  bool valid = true;
  for (unsigned turn = 0; turn < kTurns; ++turn) {
    const std::uint32_t state =
        reinterpret_cast<const std::uint16_t*>(states)[turn * kWarpThreads + threadIdx.x];
    // A valid window has at least 8 bits, so the one above it is bit 8 or higher.
    valid = valid && state >= 0x100;
    s.bits[turn] = 31u - static_cast<std::uint32_t>(__clz(state | 1u));
    s.windows[turn] = state & ((1u << s.bits[turn]) - 1);
  }
  return !any_lane(!valid);
}

// Keeps the next bytes of a chunk in shared memory. A block of bytes is loaded to a register of
// each lane while the blocks before it are read.
class ByteWindow {
 public:
  static constexpr std::uint32_t kBlock = kWarpThreads * 4;
  static constexpr std::uint32_t kBlocks = 4;

  // `words` of them may be read.
  __device__ ByteWindow(const std::uint32_t* in, std::uint32_t words, std::uint32_t* ring)
      : in_(in), words_(words), ring_(ring), next_(load()) {
    for (unsigned block = 1; block < kBlocks; ++block) store();
    __syncwarp();
  }

  // Makes the bytes of the next step readable, which are at most kBlock from `position` on.
  __device__ void advance(std::uint32_t position) {
    if (loaded_ >= position / kBlock + kBlocks - 1) return;
    __syncwarp();  // the block that is replaced has been read
    store();
    __syncwarp();
  }
  __device__ std::uint32_t at(std::uint32_t position) const {
    return reinterpret_cast<const std::uint8_t*>(ring_)[position % (kBlocks * kBlock)];
  }

 private:
  __device__ std::uint32_t load() const {
    const std::uint32_t word = loaded_ * kWarpThreads + threadIdx.x;
    return word < words_ ? in_[word] : 0;
  }
  __device__ void store() {
    ring_[loaded_ % kBlocks * kWarpThreads + threadIdx.x] = next_;
    ++loaded_;
    next_ = load();
  }

  const std::uint32_t* in_;
  std::uint32_t words_;
  std::uint32_t* ring_;
  std::uint32_t loaded_ = 0;  // blocks in the ring, counted from the first
  std::uint32_t next_;
};

// Replaces the marks among a pair of neighbouring values of each lane by escaped exponents. `used`
// counts them.
__device__ bool restore_pair(std::uint32_t (&pair)[2], std::uint32_t i, std::uint32_t n,
                             std::uint32_t mark, const std::uint8_t* escapes, std::uint32_t count,
                             std::uint32_t& used) {
  const std::uint32_t even = __ballot_sync(kAllLanes, i < n && pair[0] == mark);
  const std::uint32_t odd = __ballot_sync(kAllLanes, i + 1 < n && pair[1] == mark);
  if ((even | odd) == 0) return true;
  const std::uint32_t below = (1u << threadIdx.x) - 1;
  std::uint32_t next = used + count_bits(even & below) + count_bits(odd & below);
  used += count_bits(even) + count_bits(odd);
  if (used > count) return false;
  if ((even >> threadIdx.x & 1u) != 0) pair[0] = escapes[next++];
  if ((odd >> threadIdx.x & 1u) != 0) pair[1] = escapes[next];
  return true;
}

static_assert(ByteWindow::kBlock == kStreams);  // a step reads at most a byte of each stream

__device__ bool decode_codes(Reading& r, std::uint32_t* ring, const std::uint16_t* table,
                             std::uint32_t mark, std::uint32_t byte_count,
                             std::uint32_t escape_count, bool prune, SentCount& sent) {
  const std::uint8_t* const states = r.chunk + r.position;
  const std::uint8_t* const bytes = states + kStateBytes;
  const std::uint8_t* const escapes = bytes + byte_count;
  if (byte_count > kGCompChunk || escape_count > r.n ||
      !r.take(round_to_4(kStateBytes + byte_count + escape_count))) {
    return false;
  }
  Streams s;
  if (!start_streams(states, s)) return false;
  const std::uint32_t below = (1u << threadIdx.x) - 1;
  const std::uint32_t steps = (r.n + kStreams - 1) / kStreams;
  ByteWindow window(words_of(bytes), (byte_count + 3) / 4, ring);
  std::uint32_t position = 0;
  std::uint32_t used = 0;
  std::uint32_t own = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    window.advance(position);
    std::uint32_t exponents[kTurns];
    std::uint32_t taking[kTurns];
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      const std::uint32_t entry = table[s.windows[turn] & 0xffu];
      exponents[turn] = entry & 0xffu;
      s.windows[turn] >>= entry >> 8;
      s.bits[turn] -= entry >> 8;
      taking[turn] = __ballot_sync(kAllLanes, s.bits[turn] < 8);
    }
    std::uint32_t at[kTurns];
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      at[turn] = position + count_bits(taking[turn] & below);
      position += count_bits(taking[turn]);
    }
    if (position > byte_count) return false;
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      if (s.bits[turn] >= 8) continue;
      s.windows[turn] |= window.at(at[turn]) << s.bits[turn];
      s.bits[turn] += 8;
    }
    // In each half of a step, a lane has two neighbouring values.
    for (unsigned half = 0; half < 2; ++half) {
      std::uint32_t pair[2] = {exponents[2 * half], exponents[2 * half + 1]};
      const std::uint32_t i = step * kStreams + half * 64 + threadIdx.x * 2;
      if (!restore_pair(pair, i, r.n, mark, escapes, escape_count, used)) return false;
      *reinterpret_cast<std::uint16_t*>(r.exponents + i) =
          static_cast<std::uint16_t>(pair[0] | pair[1] << 8);
      if (i < r.n && !(prune && pair[0] == 0)) ++own;
      if (i + 1 < r.n && !(prune && pair[1] == 0)) ++own;
    }
    if ((step + 1) % kTileSteps == 0 || step + 1 == steps) {
      sent.add(step / kTileSteps, own);
      own = 0;
    }
  }
  // A valid stream ends in the state with which its encoder started.
  bool ended = true;
  for (unsigned turn = 0; turn < kTurns; ++turn) {
    ended = ended && s.bits[turn] == 8 && s.windows[turn] == 0;
  }
  return !any_lane(!ended) && position == byte_count && used == escape_count;
}

// The bits of a row's word that belong to [begin, end).
__device__ std::uint32_t bits_within(std::uint32_t word, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t mask = 0xffffffffu;
  if (word * 32 < begin) mask &= 0xffffffffu << (begin - word * 32);
  if (word * 32 + 32 > end) mask &= 0xffffffffu >> (word * 32 + 32 - end);
  return mask;
}

// Counts the fields of each level before every tile.
__device__ void count_levels(const Reading& r, const std::uint32_t* low, const std::uint32_t* high,
                             std::uint32_t sent, DecodePlan& plan,
                             std::uint32_t (&counts)[kLevels]) {
  const std::uint32_t tiles = (r.n + kTile - 1) / kTile;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    if (threadIdx.x == 0) {
      for (unsigned level = 0; level < kLevels; ++level) {
        plan.fields_before[tile][level] = counts[level];
      }
    }
    const std::uint32_t begin =
        __shfl_sync(kAllLanes, threadIdx.x == 0 ? plan.sent_before[tile] : 0, 0);
    const std::uint32_t end = __shfl_sync(
        kAllLanes, threadIdx.x == 0 && tile + 1 < tiles ? plan.sent_before[tile + 1] : sent, 0);
    if (begin == end) continue;
    std::uint32_t own[kLevels] = {};
    for (std::uint32_t word = begin / 32 + threadIdx.x; word * 32 < end; word += kWarpThreads) {
      const std::uint32_t mask = bits_within(word, begin, end);
      const std::uint32_t l = low[word];
      const std::uint32_t h = high[word];
      own[0] += count_bits(mask & ~l & ~h);
      own[1] += count_bits(mask & l & ~h);
      own[2] += count_bits(mask & ~l & h);
      own[3] += count_bits(mask & l & h);
    }
    for (unsigned level = 0; level < kLevels; ++level) counts[level] += warp_sum(own[level]);
  }
}

// Returns false if the chunk has a fault. `offset` is that of the chunk in the body.
__device__ bool read_chunk(Reading& r, std::uint32_t offset, std::uint32_t* ring,
                           const std::uint16_t* table, std::uint32_t mark, bool has_table,
                           DecodePlan& plan) {
  if (!r.take(kHeader)) return false;
  const std::uint32_t byte_count = words_of(r.chunk)[0];
  const std::uint32_t escape_count = words_of(r.chunk)[1];
  const std::uint32_t kinds = words_of(r.chunk)[2];
  const std::uint32_t level = kinds & 0xffu;
  const std::uint32_t pruned = kinds >> 8 & 0xffu;
  const std::uint32_t coded = kinds >> 16 & 0xffu;
  if (level > kLevels || pruned > 1 || coded > 1 || kinds >> 24 != 0) return false;
  if (coded != 0 ? !has_table : byte_count != 0 || escape_count != 0) return false;
  SentCount sent = {plan};
  const bool read =
      coded != 0 ? decode_codes(r, ring, table, mark, byte_count, escape_count, pruned != 0, sent)
                 : copy_raw(r, pruned != 0, sent);
  if (!read) return false;

  std::uint32_t counts[kLevels] = {};
  const auto row = static_cast<std::uint32_t>(plane_bytes(sent.total));
  const std::uint32_t rows = r.position;
  if (level == kLevels) {
    if (!r.take(2 * row)) return false;
    count_levels(r, words_of(r.chunk + rows), words_of(r.chunk + rows + row), sent.total, plan,
                 counts);
  } else {
    for (unsigned l = 0; l < kLevels; ++l) counts[l] = l == level ? sent.total : 0;
  }
  for (unsigned l = 0; l < kLevels; ++l) {
    if (threadIdx.x == 0) plan.fields[l] = offset + r.position;
    if (!r.take(static_cast<std::uint32_t>(packed_words(counts[l], sent_bits(l))) * 4))
      return false;
  }
  if (threadIdx.x == 0) {
    plan.level = level;
    plan.pruned = pruned;
    plan.low_row = offset + rows;
    plan.high_row = offset + rows + row;
    plan.sent_before[kChunkTiles] = sent.total;
  }
  return r.position == r.size;
}

__global__ void read_chunks(GCompDecoding g) {
  __shared__ std::uint16_t table[kExponents];
  __shared__ std::uint32_t ring[ByteWindow::kBlocks * kWarpThreads];
  for (unsigned e = threadIdx.x; e < kExponents; e += kWarpThreads) {
    table[e] = g.table != nullptr ? g.table->entries[e] : std::uint16_t{0x100};
  }
  __syncthreads();
  const std::uint32_t mark = g.table != nullptr ? g.table->escape_mark : 0;
  const std::uint32_t chunks = gcomp_chunks(g.n);
  for (std::uint32_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const std::uint32_t begin = g.begins[chunk];
    Reading reading = {.chunk = g.body + begin,
                       .size = g.begins[chunk + 1] - begin,
                       .position = 0,
                       .n = min(kGCompChunk, g.n - chunk * kGCompChunk),
                       .exponents = g.exponents + std::uint64_t{chunk} * kGCompChunk};
    const bool sound =
        read_chunk(reading, begin, ring, table, mark, g.table != nullptr, g.plans[chunk]);
    if (threadIdx.x != 0) continue;
    g.plans[chunk].sound = sound ? 1 : 0;
    if (!sound) atomicMax(g.faults, 1u);
  }
}

// Field i of packed words, as a complete fraction.
__device__ std::uint32_t fraction_at(const std::uint32_t* words, std::uint32_t i, unsigned level) {
  const std::uint32_t bits = sent_bits(level);
  const std::uint32_t start = i / kColumns * bits;
  const std::uint32_t index = start / 32 * kColumns + i % kColumns;
  const std::uint32_t shift = start % 32;
  std::uint32_t field = words[index] >> shift;
  if (shift + bits > 32) field |= words[index + kColumns] << (32 - shift);
  return (field & ((1u << bits) - 1)) << truncated_bits(level);
}

__device__ std::uint32_t magnitude(std::uint32_t bits) { return bits & 0x7fffffffu; }

// Joins a tile whose values are all sent at one level.
__device__ std::uint32_t join_tile(const std::uint32_t* words, std::uint32_t first, unsigned level,
                                   const std::uint8_t* exponents, std::uint32_t size, float* x) {
  std::uint32_t largest = 0;
  for (std::uint32_t i = threadIdx.x; i < size; i += kThreads) {
    const std::uint32_t bits = gcomp::join(exponents[i], fraction_at(words, first + i, level));
    largest = max(largest, magnitude(bits));
    x[i] = __uint_as_float(bits);
  }
  return largest;
}

// The masks of 32 neighbouring values each, and what comes before them in the tile.
struct JoinMemory {
  std::uint32_t sent[kTileWords];
  std::uint32_t low[kTileWords];
  std::uint32_t high[kTileWords];
  std::uint32_t sent_before[kTileWords];
  std::uint32_t before[2][kTileWords];  // the fields of two levels, in 16 bits each
};

template <typename Count>
__device__ void sum_words(std::uint32_t* before, const Count& count) {
  std::uint32_t total = 0;
  for (std::uint32_t first = 0; first < kTileWords; first += kThreads) {
    const std::uint32_t word = first + threadIdx.x;
    const BlockScan scan = block_scan(word < kTileWords ? count(word) : 0);
    if (word < kTileWords) before[word] = total + scan.before;
    total += scan.total;
  }
  __syncthreads();
}

__device__ std::uint32_t level_mask(const JoinMemory& m, std::uint32_t word, unsigned level) {
  return m.sent[word] & ((level & 1u) != 0 ? m.low[word] : ~m.low[word]) &
         ((level & 2u) != 0 ? m.high[word] : ~m.high[word]);
}

// Joins any tile.
__device__ std::uint32_t join_masked(const GCompDecoding& g, const DecodePlan& plan,
                                     std::uint32_t tile, const std::uint8_t* exponents,
                                     std::uint32_t size, float* x, JoinMemory& m) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  const std::uint32_t below = (1u << lane) - 1;
  const bool differ = plan.level == kLevels;
  const std::uint32_t first = plan.sent_before[tile];
  for (std::uint32_t word = threadIdx.x / kWarpThreads; word < kTileWords; word += kWarps) {
    const std::uint32_t i = word * 32 + lane;
    const bool sent = i < size && !(plan.pruned != 0 && exponents[i] == 0);
    const std::uint32_t mask = __ballot_sync(kAllLanes, sent);
    if (lane == 0) m.sent[word] = mask;
  }
  __syncthreads();
  sum_words(m.sent_before, [&m](std::uint32_t word) { return count_bits(m.sent[word]); });
  if (differ) {
    for (std::uint32_t word = threadIdx.x / kWarpThreads; word < kTileWords; word += kWarps) {
      const bool sent = (m.sent[word] >> lane & 1u) != 0;
      const std::uint32_t bit = first + m.sent_before[word] + count_bits(m.sent[word] & below);
      const std::uint32_t l = sent ? words_of(g.body + plan.low_row)[bit / 32] >> (bit % 32) : 0;
      const std::uint32_t h = sent ? words_of(g.body + plan.high_row)[bit / 32] >> (bit % 32) : 0;
      const std::uint32_t low = __ballot_sync(kAllLanes, (l & 1u) != 0);
      const std::uint32_t high = __ballot_sync(kAllLanes, (h & 1u) != 0);
      if (lane == 0) {
        m.low[word] = low;
        m.high[word] = high;
      }
    }
    __syncthreads();
    for (unsigned pair = 0; pair < 2; ++pair) {
      sum_words(m.before[pair], [&m, pair](std::uint32_t word) {
        return count_bits(level_mask(m, word, 2 * pair)) |
               count_bits(level_mask(m, word, 2 * pair + 1)) << 16;
      });
    }
  }
  std::uint32_t largest = 0;
  for (std::uint32_t word = threadIdx.x / kWarpThreads; word < kTileWords; word += kWarps) {
    const std::uint32_t i = word * 32 + lane;
    if (i >= size) continue;
    std::uint32_t fraction = 0;
    if ((m.sent[word] >> lane & 1u) != 0) {
      unsigned level = plan.level;
      std::uint32_t field = first + m.sent_before[word] + count_bits(m.sent[word] & below);
      if (differ) {
        level = (m.low[word] >> lane & 1u) | (m.high[word] >> lane & 1u) << 1;
        field = plan.fields_before[tile][level] +
                (m.before[level / 2][word] >> (level % 2 * 16) & 0xffffu) +
                count_bits(level_mask(m, word, level) & below);
      }
      fraction = fraction_at(words_of(g.body + plan.fields[level]), field, level);
    }
    const std::uint32_t bits = gcomp::join(exponents[i], fraction);
    largest = max(largest, magnitude(bits));
    x[i] = __uint_as_float(bits);
  }
  __syncthreads();  // before the masks are used again
  return largest;
}

__global__ void join_tiles(GCompDecoding g) {
  __shared__ JoinMemory m;
  const std::uint32_t tiles = (g.n + kTile - 1) / kTile;
  std::uint32_t largest = 0;
  for (std::uint32_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const DecodePlan& plan = g.plans[index / kChunkTiles];
    if (plan.sound == 0) continue;
    const std::uint32_t tile = index % kChunkTiles;
    const std::uint32_t begin = index * kTile;
    const std::uint32_t size = min(kTile, g.n - begin);
    const bool last = tile + 1 == kChunkTiles || index + 1 == tiles;
    const std::uint32_t first = plan.sent_before[tile];
    const std::uint32_t sent = plan.sent_before[last ? kChunkTiles : tile + 1] - first;
    const std::uint8_t* const exponents = g.exponents + begin;
    float* const x = g.x + begin;
    std::uint32_t found = 0;
    if (plan.level == kLevels || sent != size) {
      found = join_masked(g, plan, tile, exponents, size, x, m);
    } else {
      const std::uint32_t* const words = words_of(g.body + plan.fields[plan.level]);
      switch (plan.level) {
        case 0:
          found = join_tile(words, first, 0, exponents, size, x);
          break;
        case 1:
          found = join_tile(words, first, 1, exponents, size, x);
          break;
        case 2:
          found = join_tile(words, first, 2, exponents, size, x);
          break;
        default:
          found = join_tile(words, first, 3, exponents, size, x);
      }
    }
    largest = max(largest, found);
  }
  largest = block_max(largest);
  if (threadIdx.x == 0) atomicMax(g.largest, largest);
}

}  // namespace

Status decode_chunks(const Queue& queue, const GCompDecoding& g) {
  if (g.n == 0) return {};
  const std::uint32_t chunks = gcomp_chunks(g.n);
  LaunchShape readers = shape_for(queue, "read_chunks", chunks, 1);
  readers.threads = kWarpThreads;
  TRIBUTARY_TRY(launch(read_chunks, readers, g));
  return launch(join_tiles, shape_for(queue, "join_tiles", g.n, kTile), g);
}

}  // namespace tributary::TRIBUTARY_DEVICE
