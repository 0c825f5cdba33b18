#include "core/codec/cuda/sparse/select.h"

#include "core/codec/cuda/block.h"
#include "core/codec/sparse/elements.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

// The 31 bits of a magnitude are divided into three digits, from the highest.
constexpr unsigned kFirstBits = 11;
constexpr unsigned kOtherBits = 10;
constexpr unsigned kFirstShift = 2 * kOtherBits;
constexpr unsigned kFirstBins = 1u << kFirstBits;
constexpr unsigned kOtherBins = 1u << kOtherBits;
constexpr unsigned kSecondAt = kFirstBins;  // offsets in SelectionMemory::histograms
constexpr unsigned kThirdAt = kFirstBins + kOtherBins;
constexpr unsigned kAllBins = kFirstBins + 2 * kOtherBins;

// A warp takes one tile at a time, in steps of one quad per lane. It loads several quads before it
// uses the first.
constexpr std::uint32_t kStep = kWarpThreads * kPerThread;
constexpr unsigned kQuadsAhead = 4;
constexpr std::uint32_t kTile = 16 * kStep;
static_assert(kTile <= 0x10000, "offsets in a tile have 16 bits");

constexpr std::uint32_t tiles_of(std::uint32_t n) { return n / kTile + (n % kTile != 0 ? 1 : 0); }

__device__ unsigned lane_index() { return threadIdx.x % kWarpThreads; }
__device__ std::uint32_t first_tile() {
  return (blockIdx.x * kThreads + threadIdx.x) / kWarpThreads;
}
__device__ std::uint32_t next_tile(std::uint32_t tile) { return tile + gridDim.x * kWarps; }

// Calls body(i, quad) in all lanes of a warp for the values of a tile. The values i .. i + 3 that
// are beyond the bucket are zero.
template <typename Body>
__device__ void for_each_quad(const float* x, std::uint32_t n, std::uint32_t tile,
                              const Body& body) {
  const std::uint32_t begin = tile * kTile;
  const std::uint32_t end = begin + min(kTile, n - begin);
  for (std::uint32_t at = begin; at < end; at += kQuadsAhead * kStep) {
    float4 quads[kQuadsAhead] = {};
    for (unsigned ahead = 0; ahead < kQuadsAhead; ++ahead) {
      const std::uint32_t i = at + ahead * kStep + lane_index() * kPerThread;
      if (i < end) quads[ahead] = load_quad(x, i, end);
    }
    for (unsigned ahead = 0; ahead < kQuadsAhead; ++ahead) {
      body(at + ahead * kStep + lane_index() * kPerThread, quads[ahead]);
    }
  }
}

// A histogram of a block in its shared memory. Bin 0 is not counted, because many values of a
// bucket may be zero: bin_of_rank() takes it for the ranks that no other bin has.
template <unsigned kBins>
__device__ void clear_bins(std::uint32_t (&bins)[kBins]) {
  for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) bins[bin] = 0;
  __syncthreads();
}
inline __device__ void count_in(std::uint32_t* bins, std::uint32_t bin) {
  if (bin != 0) atomicAdd(bins + bin, 1u);
}
template <unsigned kBins>
__device__ void add_bins(const std::uint32_t (&bins)[kBins], std::uint32_t* histogram) {
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) {
    if (bins[bin] != 0) atomicAdd(histogram + bin, bins[bin]);
  }
}

// Returns the bin that has the value of a rank, counted from the highest bin, and the number of
// values in the bins above, to each thread of the block.
template <unsigned kBins>
__device__ RankedPrefix bin_of_rank(const std::uint32_t* histogram, std::uint32_t rank) {
  constexpr unsigned kEach = kBins / kThreads;
  static_assert(kEach % kPerThread == 0);
  __shared__ RankedPrefix found;
  const unsigned top = kBins - threadIdx.x * kEach;  // thread 0 has the highest bins
  std::uint32_t counts[kEach];                       // from the highest bin down
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < kEach; i += kPerThread) {
    const uint4 quad = load_quad(histogram, top - kPerThread - i, kBins);
    counts[i] = quad.w;
    counts[i + 1] = quad.z;
    counts[i + 2] = quad.y;
    counts[i + 3] = quad.x;
    sum += quad.x + quad.y + quad.z + quad.w;
  }
  const BlockScan scan = block_scan(sum);
  if (threadIdx.x == 0) found = {0, scan.total};
  __syncthreads();
  std::uint32_t above = scan.before;
  for (unsigned i = 0; i < kEach; ++i) {
    if (above < rank && rank <= above + counts[i]) found = {top - 1 - i, above};
    above += counts[i];
  }
  __syncthreads();
  const RankedPrefix result = found;
  __syncthreads();  // before the next use of `found`
  return result;
}

// Continues a prefix by the next digit. Each block computes it from the histogram, which is faster
// than another kernel.
inline __device__ RankedPrefix refined(RankedPrefix known, const std::uint32_t* histogram,
                                       std::uint32_t rank) {
  const RankedPrefix bin = bin_of_rank<kOtherBins>(histogram, rank - known.above);
  return {known.prefix << kOtherBits | bin.prefix, known.above + bin.above};
}

inline __device__ bool is_first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

__device__ std::uint32_t floor_of(const std::uint32_t* magnitude_min) {
  return magnitude_min != nullptr ? max(*magnitude_min, 1u) : 0;
}

__global__ void start_selection(const std::uint32_t* magnitude_min, SelectionMemory memory) {
  for (unsigned bin = threadIdx.x; bin < kAllBins; bin += kThreads) memory.histograms[bin] = 0;
  if (threadIdx.x != 0) return;
  const std::uint32_t floor = floor_of(magnitude_min);
  SelectionState state = {};
  state.low_min = floor;
  state.high_min = floor;
  *memory.state = state;
}

__global__ void count_first_digit(const float* x, std::uint32_t n, SelectionMemory memory) {
  __shared__ std::uint32_t bins[kFirstBins];
  clear_bins(bins);
  for (std::uint32_t tile = first_tile(); tile < tiles_of(n); tile = next_tile(tile)) {
    for_each_quad(x, n, tile, [&](std::uint32_t, float4 v) {
      // Zeros beyond the bucket are in bin 0.
      count_in(bins, magnitude_bits(v.x) >> kFirstShift);
      count_in(bins, magnitude_bits(v.y) >> kFirstShift);
      count_in(bins, magnitude_bits(v.z) >> kFirstShift);
      count_in(bins, magnitude_bits(v.w) >> kFirstShift);
    });
  }
  add_bins(bins, memory.histograms);
}

// The candidates that a warp has found in a tile.
struct Candidates {
  std::uint32_t* bits;
  std::uint16_t* offsets;
  std::uint32_t count;

  __device__ void put(std::uint32_t at, float value, std::uint32_t offset) const {
    bits[at] = __float_as_uint(value);
    offsets[at] = static_cast<std::uint16_t>(offset);
  }

  // Appends the values of the quads of all lanes whose magnitude is at least magnitude_min.
  // `offset` is that of the lane's quad in the tile, which ends at `size`.
  __device__ void append(float4 v, std::uint32_t offset, std::uint32_t size,
                         std::uint32_t magnitude_min) {
    const bool x = offset < size && magnitude_bits(v.x) >= magnitude_min;
    const bool y = offset + 1 < size && magnitude_bits(v.y) >= magnitude_min;
    const bool z = offset + 2 < size && magnitude_bits(v.z) >= magnitude_min;
    const bool w = offset + 3 < size && magnitude_bits(v.w) >= magnitude_min;
    const unsigned xs = __ballot_sync(kAllLanes, x);
    const unsigned ys = __ballot_sync(kAllLanes, y);
    const unsigned zs = __ballot_sync(kAllLanes, z);
    const unsigned ws = __ballot_sync(kAllLanes, w);
    const unsigned before = (1u << lane_index()) - 1;
    std::uint32_t at =
        count + static_cast<std::uint32_t>(__popc(xs & before) + __popc(ys & before) +
                                           __popc(zs & before) + __popc(ws & before));
    if (x) put(at++, v.x, offset);
    if (y) put(at++, v.y, offset + 1);
    if (z) put(at++, v.z, offset + 2);
    if (w) put(at, v.w, offset + 3);
    count += static_cast<std::uint32_t>(__popc(xs) + __popc(ys) + __popc(zs) + __popc(ws));
  }
};

// Collects the candidates of each tile. By rank: those that reach the first digit of the rank's
// magnitude; the second digits of values with the same first one are counted. Otherwise: those that
// reach low_min.
template <bool kByRank>
__global__ void collect(const float* x, std::uint32_t n, std::uint32_t rank,
                        SelectionMemory memory) {
  __shared__ std::uint32_t bins[kByRank ? kOtherBins : 1];
  RankedPrefix first = {};
  std::uint32_t magnitude_min = 0;
  if constexpr (kByRank) {
    first = bin_of_rank<kFirstBins>(memory.histograms, rank);
    if (is_first_thread()) memory.state->first = first;
    magnitude_min = first.prefix << kFirstShift;
    clear_bins(bins);
  } else {
    magnitude_min = memory.state->low_min;
  }
  const auto count_second_digit = [&](float value) {
    const std::uint32_t magnitude = magnitude_bits(value);
    if (magnitude >> kFirstShift == first.prefix) {
      count_in(bins, magnitude >> kOtherBits & (kOtherBins - 1));
    }
  };
  std::uint32_t largest = 0;
  for (std::uint32_t tile = first_tile(); tile < tiles_of(n); tile = next_tile(tile)) {
    const std::uint32_t begin = tile * kTile;
    const std::uint32_t size = min(kTile, n - begin);
    Candidates candidates = {memory.bits + begin, memory.offsets + begin, 0};
    for_each_quad(x, n, tile, [&](std::uint32_t i, float4 v) {
      largest = max(max(max(largest, magnitude_bits(v.x)), magnitude_bits(v.y)),
                    max(magnitude_bits(v.z), magnitude_bits(v.w)));
      candidates.append(v, i - begin, size, magnitude_min);
      if constexpr (kByRank) {
        count_second_digit(v.x);
        count_second_digit(v.y);
        count_second_digit(v.z);
        count_second_digit(v.w);
      }
    });
    if (lane_index() == 0) memory.counts[tile] = candidates.count;
  }
  if constexpr (kByRank) add_bins(bins, memory.histograms + kSecondAt);
  largest = block_max(largest);
  if (threadIdx.x == 0) atomicMax(&memory.state->largest, largest);
}

// Calls body(magnitude) for the candidates of a lane in a tile.
template <typename Body>
__device__ void for_each_candidate(const SelectionMemory& memory, std::uint32_t tile,
                                   const Body& body) {
  const std::uint32_t* const bits = memory.bits + tile * kTile;
  const std::uint32_t count = memory.counts[tile];
  for (std::uint32_t i = lane_index(); i < count; i += kWarpThreads) {
    body(bits[i] & kMagnitudeMask);
  }
}

// Counts the third digits of the candidates with the first two of the rank's magnitude.
__global__ void count_third_digit(std::uint32_t n, std::uint32_t rank, SelectionMemory memory) {
  __shared__ std::uint32_t bins[kOtherBins];
  const RankedPrefix second = refined(memory.state->first, memory.histograms + kSecondAt, rank);
  if (is_first_thread()) memory.state->second = second;
  clear_bins(bins);
  for (std::uint32_t tile = first_tile(); tile < tiles_of(n); tile = next_tile(tile)) {
    for_each_candidate(memory, tile, [&](std::uint32_t magnitude) {
      if (magnitude >> kOtherBits != second.prefix) return;
      count_in(bins, magnitude & (kOtherBins - 1));
    });
  }
  add_bins(bins, memory.histograms + kThirdAt);
}

inline __device__ RankedPrefix ranked_magnitude(const SelectionMemory& memory, std::uint32_t rank) {
  return refined(memory.state->second, memory.histograms + kThirdAt, rank);
}

__global__ void store_magnitude(std::uint32_t rank, SelectionMemory memory, std::uint32_t* out) {
  const RankedPrefix third = ranked_magnitude(memory, rank);
  if (threadIdx.x == 0) *out = third.prefix;
}

// Finds the magnitude of the rank, and the next larger one that a value has.
__global__ void find_next_magnitude(std::uint32_t n, std::uint32_t rank, SelectionMemory memory) {
  const RankedPrefix third = ranked_magnitude(memory, rank);
  if (is_first_thread()) memory.state->third = third;
  std::uint32_t inverted = 0;
  for (std::uint32_t tile = first_tile(); tile < tiles_of(n); tile = next_tile(tile)) {
    for_each_candidate(memory, tile, [&](std::uint32_t magnitude) {
      if (magnitude > third.prefix) inverted = max(inverted, ~magnitude);
    });
  }
  inverted = block_max(inverted);
  if (threadIdx.x == 0) atomicMax(&memory.state->inverted_next, inverted);
}

// Halves [0, largest magnitude] towards a threshold that k values reach. More than k values reach a
// magnitude up to that of rank k + 1. Exactly k values reach one that is larger, up to that of rank
// k; then the bisection ends.
__global__ void bisect(std::uint32_t k, unsigned bisections, SelectionMemory memory) {
  if (threadIdx.x != 0) return;
  SelectionState& state = *memory.state;
  const std::uint32_t after = state.third.prefix;  // of rank k + 1
  const std::uint32_t last = state.third.above == k ? ~state.inverted_next : after;
  std::uint32_t low_min = 0;
  std::uint32_t high_min = state.largest + 1;
  float low = 0;
  float high = __uint_as_float(state.largest);
  bool exact = false;
  for (unsigned i = 0; i < bisections && !exact; ++i) {
    const float middle = low + (high - low) * 0.5f;
    const std::uint32_t magnitude = magnitude_bits(middle);
    if (magnitude <= low_min || magnitude >= high_min) break;  // no number in between
    if (magnitude <= after) {
      low = middle;
      low_min = magnitude;
    } else {
      high = middle;
      high_min = magnitude;
      exact = magnitude <= last;
    }
  }
  state.low_min = low_min;
  state.high_min = high_min;
}

// Counts the candidates of each tile that are selected in any case, and those that fill up. By
// rank: the threshold is the rank's magnitude, or *magnitude_min if that is larger.
template <bool kByRank>
__global__ void count_selected(std::uint32_t n, std::uint32_t rank,
                               const std::uint32_t* magnitude_min, SelectionMemory memory) {
  std::uint32_t low_min = 0;
  std::uint32_t high_min = 0;
  if constexpr (kByRank) {
    const std::uint32_t floor = floor_of(magnitude_min);
    const std::uint32_t magnitude = ranked_magnitude(memory, rank).prefix;
    low_min = max(magnitude, floor);
    high_min = magnitude >= floor ? magnitude + 1 : floor;
    if (is_first_thread()) {
      memory.state->low_min = low_min;
      memory.state->high_min = high_min;
    }
  } else {
    low_min = memory.state->low_min;
    high_min = memory.state->high_min;
  }
  for (std::uint32_t tile = first_tile(); tile < tiles_of(n); tile = next_tile(tile)) {
    std::uint32_t high = 0;
    std::uint32_t low = 0;
    for_each_candidate(memory, tile, [&](std::uint32_t magnitude) {
      high += magnitude >= high_min ? 1u : 0u;
      low += magnitude >= low_min && magnitude < high_min ? 1u : 0u;
    });
    high = __reduce_add_sync(kAllLanes, high);
    low = __reduce_add_sync(kAllLanes, low);
    if (lane_index() != 0) continue;
    memory.high[tile] = high;
    memory.low[tile] = low;
  }
}

__device__ std::uint32_t fill_of(std::uint32_t k, std::uint32_t reach_high) {
  return k > reach_high ? k - reach_high : 0;
}

// Replaces the counts of each tile by the counts of all tiles before. One block does the work. Each
// thread takes neighbouring tiles.
__global__ void place_tiles(std::uint32_t tiles, std::uint32_t k, SelectionMemory memory) {
  const std::uint32_t each = tiles / kThreads + (tiles % kThreads != 0 ? 1 : 0);
  const std::uint32_t begin = min(tiles, threadIdx.x * each);
  const std::uint32_t end = min(tiles, begin + each);
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  for (std::uint32_t tile = begin; tile < end; ++tile) {
    high += memory.high[tile];
    low += memory.low[tile];
  }
  const BlockScan highs = block_scan(high);
  const BlockScan lows = block_scan(low);
  high = highs.before;
  low = lows.before;
  for (std::uint32_t tile = begin; tile < end; ++tile) {
    const std::uint32_t high_here = memory.high[tile];
    const std::uint32_t low_here = memory.low[tile];
    memory.high[tile] = high;
    memory.low[tile] = low;
    high += high_here;
    low += low_here;
  }
  if (threadIdx.x != 0) return;
  memory.state->reach_high = highs.total;
  memory.state->selected = highs.total + min(lows.total, fill_of(k, highs.total));
}

// Writes the selected candidates. The place of each is the number of selected ones before it.
__global__ void write_selected(std::uint32_t n, std::uint32_t k, SelectionMemory memory,
                               Selected out) {
  const SelectionState& state = *memory.state;
  const std::uint32_t low_min = state.low_min;
  const std::uint32_t high_min = state.high_min;
  const std::uint32_t fill = fill_of(k, state.reach_high);
  const unsigned lanes_before = (1u << lane_index()) - 1;
  for (std::uint32_t tile = first_tile(); tile < tiles_of(n); tile = next_tile(tile)) {
    const std::uint32_t begin = tile * kTile;
    const std::uint32_t count = memory.counts[tile];
    std::uint32_t high_before = memory.high[tile];
    std::uint32_t low_before = memory.low[tile];
    for (std::uint32_t first = 0; first < count; first += kWarpThreads) {
      const std::uint32_t i = first + lane_index();
      const std::uint32_t bits = i < count ? memory.bits[begin + i] : 0;
      const std::uint32_t magnitude = bits & kMagnitudeMask;
      const bool high = i < count && magnitude >= high_min;
      const bool low = i < count && magnitude >= low_min && magnitude < high_min;
      const unsigned highs = __ballot_sync(kAllLanes, high);
      const unsigned lows = __ballot_sync(kAllLanes, low);
      const auto own_high = high_before + static_cast<std::uint32_t>(__popc(highs & lanes_before));
      const auto own_low = low_before + static_cast<std::uint32_t>(__popc(lows & lanes_before));
      if (high || (low && own_low < fill)) {
        const std::uint32_t at = own_high + min(own_low, fill);
        out.indices[at] = begin + memory.offsets[begin + i];
        out.values[at] = __uint_as_float(bits);
      }
      high_before += static_cast<std::uint32_t>(__popc(highs));
      low_before += static_cast<std::uint32_t>(__popc(lows));
    }
  }
}

__global__ void draw_sample(const float* x, std::uint32_t n, SampledRank sample, float* values) {
  for (std::uint32_t part = blockIdx.x * kThreads + threadIdx.x; part < sample.count;
       part += gridDim.x * kThreads) {
    values[part] = x[sparse::sampled_index(sample, n, part)];
  }
}

LaunchShape tile_shape(const Queue& queue, const char* kernel, std::uint32_t n) {
  return shape_for(queue, kernel, tiles_of(n), kWarps);
}
LaunchShape one_block(const Queue& queue, const char* kernel) {
  return shape_for(queue, kernel, 1, 1);
}

Status start(const Queue& queue, const std::uint32_t* magnitude_min,
             const SelectionMemory& memory) {
  return launch(start_selection, one_block(queue, "start_selection"), magnitude_min, memory);
}

// Finds two digits of the magnitude of a rank, and counts its third one.
Status find_rank(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t rank,
                 const SelectionMemory& memory) {
  TRIBUTARY_TRY(start(queue, nullptr, memory));
  TRIBUTARY_TRY(launch(count_first_digit, tile_shape(queue, "count_first_digit", n), x, n, memory));
  TRIBUTARY_TRY(launch(collect<true>, tile_shape(queue, "collect", n), x, n, rank, memory));
  return launch(count_third_digit, tile_shape(queue, "count_third_digit", n), n, rank, memory);
}

// Selects at most k candidates, apart from those that are selected in any case.
Status keep(const Queue& queue, std::uint32_t n, std::uint32_t k, const SelectionMemory& memory,
            const Selected& out) {
  TRIBUTARY_TRY(launch(place_tiles, one_block(queue, "place_tiles"), tiles_of(n), k, memory));
  return launch(write_selected, tile_shape(queue, "write_selected", n), n, k, memory, out);
}

Status keep_given(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t k,
                  const SelectionMemory& memory, const Selected& out) {
  TRIBUTARY_TRY(launch(collect<false>, tile_shape(queue, "collect", n), x, n, 0, memory));
  TRIBUTARY_TRY(
      launch(count_selected<false>, tile_shape(queue, "count_selected", n), n, 0, nullptr, memory));
  return keep(queue, n, k, memory, out);
}

}  // namespace

Result<SelectionMemory> selection_memory(Workspace& space, std::uint32_t n) {
  const std::size_t tiles = tiles_of(n);
  SelectionMemory memory = {};
  TRIBUTARY_ASSIGN(memory.state, space.array<SelectionState>(1));
  TRIBUTARY_ASSIGN(memory.histograms, space.array<std::uint32_t>(kAllBins));
  TRIBUTARY_ASSIGN(memory.bits, space.array<std::uint32_t>(n));
  TRIBUTARY_ASSIGN(memory.offsets, space.array<std::uint16_t>(n));
  TRIBUTARY_ASSIGN(memory.counts, space.array<std::uint32_t>(tiles));
  TRIBUTARY_ASSIGN(memory.high, space.array<std::uint32_t>(tiles));
  TRIBUTARY_ASSIGN(memory.low, space.array<std::uint32_t>(tiles));
  return memory;
}

Status select_top(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t k,
                  const SelectionMemory& memory, const Selected& out) {
  return select_at_least_up_to(queue, x, n, nullptr, k, memory, out);
}

Status select_bisected(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t k,
                       unsigned bisections, const SelectionMemory& memory, const Selected& out) {
  if (k >= n) return select_top(queue, x, n, k, memory, out);
  TRIBUTARY_TRY(find_rank(queue, x, n, k + 1, memory));
  TRIBUTARY_TRY(
      launch(find_next_magnitude, tile_shape(queue, "find_next_magnitude", n), n, k + 1, memory));
  TRIBUTARY_TRY(launch(bisect, one_block(queue, "bisect"), k, bisections, memory));
  return keep_given(queue, x, n, k, memory, out);
}

Status select_at_least(const Queue& queue, const float* x, std::uint32_t n,
                       const std::uint32_t* magnitude_min, const SelectionMemory& memory,
                       const Selected& out) {
  TRIBUTARY_TRY(start(queue, magnitude_min, memory));
  if (n == 0) return {};
  return keep_given(queue, x, n, 0, memory, out);
}

Status select_at_least_up_to(const Queue& queue, const float* x, std::uint32_t n,
                             const std::uint32_t* magnitude_min, std::uint32_t k,
                             const SelectionMemory& memory, const Selected& out) {
  if (n == 0) return start(queue, nullptr, memory);
  if (k > n) k = n;
  TRIBUTARY_TRY(find_rank(queue, x, n, k, memory));
  TRIBUTARY_TRY(launch(count_selected<true>, tile_shape(queue, "count_selected", n), n, k,
                       magnitude_min, memory));
  return keep(queue, n, k, memory, out);
}

Status sampled_magnitude(const Queue& queue, const float* x, std::uint32_t n,
                         const SampledRank& sample, const SelectionMemory& memory, float* values,
                         std::uint32_t* magnitude) {
  TRIBUTARY_TRY(launch(draw_sample, shape_for(queue, "draw_sample", sample.count, kThreads), x, n,
                       sample, values));
  TRIBUTARY_TRY(find_rank(queue, values, sample.count, sample.rank, memory));
  return launch(store_magnitude, one_block(queue, "store_magnitude"), sample.rank, memory,
                magnitude);
}

}  // namespace tributary::TRIBUTARY_DEVICE
