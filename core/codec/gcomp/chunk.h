// A chunk: up to 64 Ki values that decode from their own bytes and the bucket's codebook.
//
//   byte 0  u32  bytes of coded exponents
//        4  u32  escaped exponents
//        8  u8   level of all values that are sent, 0 to 3, or 4: each has its own
//        9  u8   1: values with exponent 0 are pruned, 0: every value is sent
//       10  u8   1: exponents are coded, 0: they are raw
//       11  u8   0
//       12       exponents: a byte for each value, or kStreams times u16 (where the streams begin),
//                the coded bytes, the escaped exponents; zeros up to a multiple of 4
//                levels, where each has its own: the lower bits of all, then the upper bits, each
//                row in words of 64 bits
//                fractions of level 0, of level 1, of level 2, of level 3, in packed words
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/gcomp/bit_plane.h"
#include "core/codec/gcomp/kernels.h"

namespace tributary::gcomp {

constexpr std::size_t kChunkHeaderBytes = 12;

constexpr std::size_t chunk_bytes_max(std::size_t n) {
  const std::size_t columns = kLevels * 2 * kColumns * sizeof(std::uint32_t);
  return kChunkHeaderBytes + n + 4 + 2 * plane_bytes(n) +
         packed_words(n, kFractionBits) * sizeof(std::uint32_t) + columns;
}

// What coding a chunk needs besides its input and output; about 1.8 MiB, of which a chunk touches a
// third. One for every thread.
struct Scratch {
  Parts parts;
  CodedExponents coded;
  Masks masks;
  std::array<std::uint32_t, kChunkValues + kLevels * kSlack> fractions;
  std::array<std::uint8_t, chunk_bytes_max(kChunkValues)> chunk;  // until its place is known
};
Scratch& thread_scratch();

struct ChunkStatistics {
  std::size_t bytes = 0;
  std::size_t escapes = 0;
  bool misfit = false;  // coding the exponents would have made them no smaller
};

// Writes at most chunk_bytes_max bytes. Without a codebook exponents stay raw; `exact` prunes
// nothing but zeros of no sign.
ChunkStatistics encode_chunk(const Kernels& loops, const Codebook* book, const LevelRule& rule,
                             bool exact, std::span<const float> values, std::uint8_t* out);

// Returns what is wrong with the chunk, nothing if it was decoded. `readable` bytes from its start
// on may be read.
const char* decode_chunk(const Kernels& loops, const Codebook* book, ByteSpan chunk,
                         std::size_t readable, std::span<float> values);

}  // namespace tributary::gcomp
