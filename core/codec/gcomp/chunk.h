// Encodes and decodes a chunk: up to 65,536 values that decode from their own bytes and the
// bucket's codebook.
//
//   byte 0  u32  bytes of coded exponents
//        4  u32  escaped exponents
//        8  u8   level of all sent values, 0 to 3, or 4: each value has its own
//        9  u8   1: values with exponent 0 are pruned, 0: every value is sent
//       10  u8   1: exponents are coded, 0: they are raw
//       11  u8   0
//       12       exponents: one byte per value, or the initial states of the streams (u16, kStreams
//                of them), the coded bytes, the escaped exponents; zeros up to a multiple of 4
//                levels, if each value has its own: the lower bits of all, then the upper bits,
//                each row in words of 64 bits
//                fractions of level 0, of level 1, of level 2, of level 3, in packed words
//
// The functions use the scratch memory of the calling thread and are otherwise pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/gcomp/bit_plane.h"
#include "core/codec/gcomp/kernels.h"

namespace tributary::gcomp {

constexpr std::size_t kChunkHeaderBytes = 12;

// Upper bound on the size of a chunk of `n` values, in bytes.
constexpr std::size_t chunk_bytes_max(std::size_t n) {
  const std::size_t columns = kLevels * 2 * kColumns * sizeof(std::uint32_t);
  return kChunkHeaderBytes + n + 4 + 2 * plane_bytes(n) +
         packed_words(n, kFractionBits) * sizeof(std::uint32_t) + columns;
}

// Temporary memory for coding a chunk: about 1.8 MiB, of which a chunk touches a third. Each thread
// has one, which lives until the thread ends.
struct Scratch {
  Parts parts;
  CodedExponents coded;
  Masks masks;
  std::array<std::uint32_t, kChunkValues + kLevels * kSlack> fractions;
};
Scratch& thread_scratch();

struct ChunkStatistics {
  std::size_t bytes = 0;
  std::size_t escapes = 0;
  bool misfit = false;             // coded exponents would not be smaller than raw ones
  std::uint64_t bits_dropped = 0;  // mantissa bits of all values that were truncated
};

// Returns a fixed rule for all values of a chunk: one level more than `level` if `rule` allows that
// for most of the chunk's sent values, judged by a sample of every 16th block, otherwise `level`. A
// rule that is fixed is returned as it is.
LevelRule rule_of_chunk(const Kernels& loops, const LevelRule& rule, unsigned level,
                        std::span<const float> values);

// Writes at most chunk_bytes_max(values.size()) bytes to `out`. Exponents stay raw without a
// codebook. With `exact`, only zeros without a sign are pruned.
ChunkStatistics encode_chunk(const Kernels& loops, const Codebook* book, const LevelRule& rule,
                             bool exact, std::span<const float> values, std::uint8_t* out);

// Decodes a chunk, whose bytes are untrusted. Returns a description of what was expected at the
// faulty position, or nullptr on success. `readable` bytes from the start of the chunk may be read,
// although only the chunk's own bytes are used.
const char* decode_chunk(const Kernels& loops, const Codebook* book, ByteSpan chunk,
                         std::size_t readable, std::span<float> values);

}  // namespace tributary::gcomp
