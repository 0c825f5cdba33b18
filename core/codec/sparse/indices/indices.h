// Encodes a set of indices of a bucket. An encoder uses the layout with the fewest bytes for the
// set:
//
//   0 raw     u32 for each index
//   1 bitmap  one bit for each value of the bucket
//   2 gaps    Rice codes: a gap minus one is divided into `bits` low bits and the rest. The rest is
//             written first, as that number of 0s and a 1, then the low bits. Bytes are filled from
//             their low bits.
//               u8                    bits
//               u32, u32 per group    first index of the group; end of its codes in what follows
//                                     codes of each group, filled up to a byte with 0s
//             A group has 4096 indices, and its first has no code. Groups can therefore be written
//             and read in parallel.
//   3 all     no bytes: the set contains every index
//
// Indices are ascending and distinct in all functions. All functions are pure. Encoding is
// canonical: a set has one encoding per layout and parameter, and readers accept no other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/chunks.h"
#include "core/codec/codec.h"

namespace tributary::sparse {

using IndexVector = RawVector<std::uint32_t>;

enum class IndexLayout : std::uint8_t { raw, bitmap, gaps, all };

// Indices per group of the gaps layout.
constexpr std::size_t kIndexGroup = 4096;

// A layout and its size in bytes for a given set.
struct IndexPlan {
  IndexLayout layout = IndexLayout::raw;
  unsigned rice_bits = 0;  // low bits of the gaps layout
  std::size_t bytes = 0;
};

// The size of the bitmap, and the smallest of all layouts for a set of a bucket of `values` values.
IndexPlan bitmap_plan(std::size_t values);
IndexPlan smallest_plan(const Execution& execution, std::span<const std::uint32_t> indices,
                        std::size_t values);

// Writes the indices by a plan that was made for them. `out` must have plan.bytes.
void write_indices(const Execution& execution, const IndexPlan& plan,
                   std::span<const std::uint32_t> indices, std::size_t values, MutableByteSpan out);

// Reads exactly `count` indices below `values` and requires that they use all of `in`. `in` and
// `layout` are untrusted; any violation gives corrupt_data. Memory is bounded by `values` and,
// except for layout 3, by the size of `in`.
Status read_indices(const Execution& execution, std::uint8_t layout, ByteSpan in, std::size_t count,
                    std::size_t values, IndexVector& indices);

// Calls body(begin, end, first, last) for every chunk of a bucket's values. indices[first, last)
// are the indices in [begin, end). Chunks may run in parallel.
template <typename Body>
void for_each_range(const Execution& execution, std::span<const std::uint32_t> indices,
                    std::size_t values, const Body& body) {
  const auto rank_of = [&](std::size_t place) {
    return static_cast<std::size_t>(std::ranges::lower_bound(indices, place) - indices.begin());
  };
  for_each_chunk(execution, values, kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   body(begin, end, rank_of(begin), rank_of(end));
                 });
}

// Writes the indices of the set bits. `bitmap` covers the bucket; its bits after the last value
// must be zero.
void places_of(const Execution& execution, std::span<const std::uint64_t> bitmap,
               IndexVector& indices);

}  // namespace tributary::sparse
