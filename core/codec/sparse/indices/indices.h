// How a set of places in a bucket travels. Four layouts, and an encoder takes the one with the
// fewest bytes for the set at hand:
//
//   0 raw     u32 for each index
//   1 bitmap  one bit for each value of the bucket
//   2 gaps    Rice codes: a gap less one is cut into `bits` low bits and the rest, which is written
//             as so many 0s and a 1; low bits of a byte first, the rest before the low bits.
//               u8                    bits
//               u32, u32 per group    first index of the group; end of its codes in what follows
//                                     codes of each group, filled up to a byte with 0s
//             A group is 4096 indices (its first has no code), so that groups can be written and
//             read in parallel.
//   3 all     nothing: every place is in the set
//
// Indices are ascending and distinct everywhere.
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

constexpr std::size_t kIndexGroup = 4096;

// A layout and how many bytes it takes.
struct IndexPlan {
  IndexLayout layout = IndexLayout::raw;
  unsigned rice_bits = 0;  // of gaps
  std::size_t bytes = 0;
};

IndexPlan bitmap_plan(std::size_t values);
IndexPlan smallest_plan(const Execution& execution, std::span<const std::uint32_t> indices,
                        std::size_t values);

// `out` has plan.bytes.
void write_indices(const Execution& execution, const IndexPlan& plan,
                   std::span<const std::uint32_t> indices, std::size_t values, MutableByteSpan out);

// Reads exactly `count` indices, all of them below `values`, out of all of `in`. The caller has
// capped `count`; nothing else is trusted.
Status read_indices(const Execution& execution, std::uint8_t layout, ByteSpan in, std::size_t count,
                    std::size_t values, IndexVector& indices);

// body(begin, end, first, last) for every chunk of a bucket's values: indices[first, last) are
// those that lie in [begin, end).
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

// The places of the set bits of a bitmap over `values` places, whose bits beyond are zero.
void places_of(const Execution& execution, std::span<const std::uint64_t> bitmap,
               IndexVector& indices);

}  // namespace tributary::sparse
