// Makes a codebook: the histogram, then package-merge (core/codec/gcomp/codebook.cc) for each
// number of exponents with a code of their own, then the tables of the cheapest one. All is in
// integers.
#include "core/codec/cuda/block.h"
#include "core/codec/cuda/gcomp/gcomp.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using gcomp::kCodeBitsMax;
using gcomp::kEscape;
using gcomp::kExponents;

// The sample of the histogram: every stride-th chunk, at most this number of them.
constexpr std::uint32_t kSampledChunksMax = 16;
constexpr std::uint32_t kRowsOfChunk = BookMaking::kRows / kSampledChunksMax;
constexpr std::uint32_t kNoCost = 0xffffffffu;
constexpr std::uint32_t kEscapeEntry = 1u << 20;

// Row r counts part r % kRowsOfChunk of the sampled chunk r / kRowsOfChunk.
__global__ void count_rows(const float* x, std::uint32_t n, std::uint32_t stride,
                           std::uint32_t* rows) {
  __shared__ std::uint32_t counts[kExponents];
  constexpr std::uint32_t kPart = kGCompChunk / kRowsOfChunk;
  for (std::uint32_t row = blockIdx.x; row < BookMaking::kRows; row += gridDim.x) {
    for (unsigned e = threadIdx.x; e < kExponents; e += kThreads) counts[e] = 0;
    __syncthreads();
    const std::uint64_t begin =
        std::uint64_t{row / kRowsOfChunk} * stride * kGCompChunk + row % kRowsOfChunk * kPart;
    const std::uint64_t end = n < begin + kPart ? n : begin + kPart;
    for (std::uint64_t i = begin + threadIdx.x; i < end; i += kThreads) {
      atomicAdd(&counts[gcomp::exponent_of(__float_as_uint(x[i]))], 1u);
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < kExponents; e += kThreads) {
      rows[row * kExponents + e] = counts[e];
    }
    __syncthreads();  // before the next row is counted
  }
}

// Adds the rows, and orders the exponents that occur by descending frequency. Among equals the
// lower exponent comes first. One block.
__global__ void order_exponents(const std::uint32_t* rows, std::uint32_t* histogram,
                                std::uint32_t* order) {
  __shared__ std::uint32_t counts[kExponents];
  for (unsigned e = threadIdx.x; e < kExponents; e += kThreads) {
    std::uint32_t sum = 0;
    for (std::uint32_t row = 0; row < BookMaking::kRows; ++row) sum += rows[row * kExponents + e];
    counts[e] = sum;
    histogram[e] = sum;
  }
  __syncthreads();
  std::uint32_t occur = 0;
  for (unsigned e = threadIdx.x; e < kExponents; e += kThreads) {
    const std::uint32_t own = counts[e];
    if (own == 0) continue;
    ++occur;
    std::uint32_t place = 0;
    for (unsigned other = 0; other < kExponents; ++other) {
      const std::uint32_t count = counts[other];
      if (count > own || (count == own && other < e)) ++place;
    }
    order[place] = e;
  }
  const std::uint32_t all = block_scan(occur).total;
  if (threadIdx.x != 0) return;
  if (all == 0) order[0] = 0;  // any code serves
  order[kExponents] = all == 0 ? 1 : all;
}

// A code for the most frequent exponents and the escape, by ascending weight.
struct Code {
  std::uint32_t symbols[kExponents];
  std::uint32_t weights[kExponents];
  std::uint8_t lengths[kExponents];
  std::uint32_t rest;  // values whose exponents have no code
};

// Returns the first index at or after which `above(i)` holds; it holds from some index on.
template <typename Above>
__device__ std::uint32_t first_above(std::uint32_t n, const Above& above) {
  std::uint32_t begin = 0;
  while (begin < n) {
    const std::uint32_t middle = begin + (n - begin) / 2;
    if (above(middle)) {
      n = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

// Finds the optimal lengths of at most bits_max bits for `coded` exponents and the escape. All
// threads of the block call it.
__device__ void find_lengths(const std::uint32_t* histogram, const std::uint32_t* order,
                             std::uint32_t coded, unsigned bits_max, Code& code) {
  __shared__ std::uint32_t lists[2][2 * kExponents];
  __shared__ std::uint16_t leaf_at[kCodeBitsMax][kExponents];
  const std::uint32_t occur = order[kExponents];
  const std::uint32_t n = coded + 1;

  std::uint32_t rest = 0;
  for (std::uint32_t i = coded + threadIdx.x; i < occur; i += kThreads) rest += histogram[order[i]];
  rest = block_scan(rest).total;
  // The escape needs a code even if no exponent uses it yet. It comes before equal weights.
  const std::uint32_t escape_weight = max(rest, 1u);
  const std::uint32_t escape_place = first_above(
      coded, [&](std::uint32_t i) { return histogram[order[coded - 1 - i]] >= escape_weight; });
  for (std::uint32_t i = threadIdx.x; i < n; i += kThreads) {
    const bool escape = i == escape_place;
    const std::uint32_t rank = coded - 1 - (i < escape_place ? i : i - 1);
    code.symbols[i] = escape ? kEscape : order[rank];
    code.weights[i] = escape ? escape_weight : histogram[order[rank]];
    lists[0][i] = code.weights[i];
    leaf_at[0][i] = static_cast<std::uint16_t>(i);
  }
  if (threadIdx.x == 0) code.rest = rest;
  __syncthreads();

  // An entry's place in a merged list is its index among its kind, and the number of entries of the
  // other kind that come before it. Leaves come first among equal weights.
  std::uint32_t size = n;
  for (unsigned level = 1; level < bits_max; ++level) {
    const std::uint32_t* const below = lists[(level - 1) % 2];
    std::uint32_t* const list = lists[level % 2];
    const std::uint32_t pairs = size / 2;
    for (std::uint32_t i = threadIdx.x; i < n; i += kThreads) {
      const std::uint32_t weight = code.weights[i];
      const std::uint32_t place = i + first_above(pairs, [&](std::uint32_t pair) {
                                    return below[2 * pair] + below[2 * pair + 1] >= weight;
                                  });
      list[place] = weight;
      leaf_at[level][i] = static_cast<std::uint16_t>(place);
    }
    for (std::uint32_t pair = threadIdx.x; pair < pairs; pair += kThreads) {
      const std::uint32_t weight = below[2 * pair] + below[2 * pair + 1];
      list[pair + first_above(n, [&](std::uint32_t i) { return code.weights[i] > weight; })] =
          weight;
    }
    size = n + pairs;
    __syncthreads();
  }

  // The length of a leaf's code is the number of lists from which it is taken.
  std::uint32_t leaves[kCodeBitsMax] = {};
  std::uint32_t taken = 2 * n - 2;
  for (unsigned level = bits_max; level-- > 0 && taken > 0;) {
    leaves[level] = first_above(n, [&](std::uint32_t i) { return leaf_at[level][i] >= taken; });
    taken = 2 * (taken - leaves[level]);
  }
  for (std::uint32_t i = threadIdx.x; i < n; i += kThreads) {
    std::uint8_t length = 0;
    for (unsigned level = 0; level < kCodeBitsMax; ++level) {
      if (i < leaves[level]) ++length;
    }
    code.lengths[i] = length;
  }
  __syncthreads();
}

__device__ std::uint32_t coded_max(const std::uint32_t* order, unsigned bits_max) {
  return min(order[kExponents], (1u << bits_max) - 1);
}

// Sets costs[c - 1] to the bits of the sample with codes for c exponents.
__global__ void price_codes(const std::uint32_t* histogram, const std::uint32_t* order,
                            unsigned bits_max, std::uint32_t* costs) {
  __shared__ Code code;
  for (std::uint32_t at = blockIdx.x; at < kExponents; at += gridDim.x) {
    const std::uint32_t coded = at + 1;
    if (coded > coded_max(order, bits_max)) {
      if (threadIdx.x == 0) costs[at] = kNoCost;
      continue;
    }
    find_lengths(histogram, order, coded, bits_max, code);
    std::uint32_t cost = 0;
    for (std::uint32_t i = threadIdx.x; i <= coded; i += kThreads) {
      cost += code.weights[i] * code.lengths[i];
    }
    cost = block_scan(cost).total;
    if (threadIdx.x == 0) costs[at] = cost + 8 * code.rest;
    __syncthreads();  // before `code` is used again
  }
}

// Codes are read from the low bit, but canonical codes are assigned from the high bit.
__device__ std::uint32_t reversed_code(std::uint32_t code, unsigned bits) {
  std::uint32_t out = 0;
  for (unsigned i = 0; i < bits; ++i) out |= ((code >> i) & 1u) << (bits - 1 - i);
  return out;
}

// Takes the cheapest number of codes, the lowest of equal ones, and fills in the tables. One block.
__global__ void fill_tables(const std::uint32_t* histogram, const std::uint32_t* order,
                            unsigned bits_max, const std::uint32_t* costs, CodeTable* table,
                            std::uint8_t* bytes) {
  __shared__ Code code;
  __shared__ std::uint8_t lengths[kExponents + 1];
  std::uint32_t best = 0;  // the costs are below 2^24, as the sample has at most 2^20 values
  for (std::uint32_t at = threadIdx.x; at < kExponents; at += kThreads) {
    if (costs[at] != kNoCost) best = max(best, ~(costs[at] << 8 | at));
  }
  best = ~block_max(best);
  for (unsigned s = threadIdx.x; s <= kEscape; s += kThreads) lengths[s] = 0;
  find_lengths(histogram, order, (best & 0xffu) + 1, bits_max, code);
  for (std::uint32_t i = threadIdx.x; i < (best & 0xffu) + 2; i += kThreads) {
    lengths[code.symbols[i]] = code.lengths[i];
  }
  __syncthreads();

  std::uint32_t shortest = 0;
  for (unsigned e = threadIdx.x; e < kExponents; e += kThreads) {
    const unsigned symbol = lengths[e] != 0 ? e : kEscape;
    const unsigned bits = lengths[symbol];
    // Canonical codes of a length follow one another by symbol, after twice those of the length
    // before.
    std::uint32_t first = 0;
    std::uint32_t before = 0;
    for (unsigned other = 0; other <= kEscape; ++other) {
      const unsigned length = lengths[other];
      if (length == 0) continue;
      if (length < bits) first += 1u << (bits - length);
      if (length == bits && other < symbol) ++before;
    }
    table->entries[e] =
        reversed_code(first + before, bits) | bits << 8 | (symbol == kEscape ? kEscapeEntry : 0);
    if (symbol != kEscape) shortest = max(shortest, ~(bits << 8 | e));
  }
  shortest = block_max(shortest);
  if (threadIdx.x == 0) table->padding = ~shortest & 0xffu;

  for (std::uint32_t i = threadIdx.x; i < gcomp::kCodebookBytes; i += kThreads) {
    std::uint32_t byte = i == 4 ? lengths[kEscape] : 0;
    if (i >= 8)
      byte = lengths[2 * (i - 8)] | static_cast<std::uint32_t>(lengths[2 * (i - 8) + 1]) << 4;
    bytes[i] = static_cast<std::uint8_t>(byte);
  }
}

LaunchShape one_block(const Queue& queue, const char* kernel) {
  return {.kernel = kernel, .grid = 1, .threads = kThreads, .stream = queue.stream()};
}

}  // namespace

CodeTable code_table(const gcomp::Codebook& book) {
  CodeTable table = {};
  for (unsigned e = 0; e < kExponents; ++e) {
    const std::uint32_t bits = book.bits_or_escape[e];
    table.entries[e] = static_cast<std::uint32_t>(book.code[e]) | (bits & 15u) << 8 |
                       ((bits & gcomp::kEscapeFlag) != 0 ? kEscapeEntry : 0);
  }
  table.padding = book.padding;
  return table;
}

DecodeTable decode_table(const gcomp::Codebook& book) {
  DecodeTable table = {};
  for (unsigned window = 0; window < kExponents; ++window) {
    table.entries[window] =
        static_cast<std::uint16_t>(book.next_exponent[window] | book.next_bits[window] << 8);
  }
  table.escape_mark = book.escape_mark;
  return table;
}

Status count_exponents(const Queue& queue, const float* x, std::uint32_t n,
                       const BookMaking& book) {
  const std::uint32_t chunks = gcomp_chunks(n);
  const std::uint32_t stride = (chunks + kSampledChunksMax - 1) / kSampledChunksMax;
  TRIBUTARY_TRY(launch(count_rows, shape_for(queue, "count_rows", BookMaking::kRows, 1), x, n,
                       stride, book.rows));
  return launch(order_exponents, one_block(queue, "order_exponents"), book.rows, book.histogram,
                book.ordered);
}

Status make_code_table(const Queue& queue, unsigned bits_max, const BookMaking& book) {
  TRIBUTARY_TRY(launch(price_codes, shape_for(queue, "price_codes", kExponents, 1), book.histogram,
                       book.ordered, bits_max, book.costs));
  return launch(fill_tables, one_block(queue, "fill_tables"), book.histogram, book.ordered,
                bits_max, book.costs, book.table, book.bytes);
}

}  // namespace tributary::TRIBUTARY_DEVICE
