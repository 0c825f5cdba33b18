// The loops over one chunk, in a scalar version (the specification) and a SIMD version (Highway, at
// the best width of the machine). Both produce the same bytes; tests and a fuzzer compare them.
//
// Encoding divides a chunk into `Parts` (split), codes their exponents (code_exponents) and packs
// their fractions level by level (pack). Decoding uses decode_exponents, restore_escapes,
// find_sent, find_levels, unpack and join.
//
// Assumptions: inputs and outputs do not overlap, and outputs have the slack that a comment states.
// The functions have no state; threads may call them for different memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/codec/chunks.h"
#include "core/codec/codec.h"
#include "core/codec/gcomp/codebook.h"
#include "core/codec/gcomp/elements.h"
#include "core/codec/gcomp/metric.h"

namespace tributary::gcomp {

// A step of the exponent coder takes one value of each stream: value i of a chunk belongs to stream
// i mod kStreams.
constexpr std::size_t kStreams = 128;
constexpr std::size_t kStepsMax = kChunkValues / kStreams;
constexpr std::size_t kBlock = 64;  // values whose masks fit in one word
constexpr std::size_t kBlocksMax = kChunkValues / kBlock;
constexpr std::size_t kSlack = 64;  // elements that a vector may write after an end

// The parts of a chunk.
struct Parts {
  alignas(64) std::array<std::uint8_t, kChunkValues + kStreams> exponents;
  // The fractions of each level's values, in order, without the truncated bits.
  std::array<std::array<std::uint32_t, kChunkValues + kSlack>, kLevels> fractions;
  std::array<std::size_t, kLevels> counts;
  // The levels of all sent values, as two rows of bits.
  std::array<std::uint64_t, kBlocksMax> level_low;
  std::array<std::uint64_t, kBlocksMax> level_high;
  // Whether pruning changed a value, which is the case for denormals and -0.
  bool pruned_more_than_zeros;
};

// Coded exponents. The encoder works from the last value to the first, so the stream's bytes and
// the escaped exponents are in reverse order.
struct CodedExponents {
  alignas(64) std::array<std::uint16_t, kStreams> states;  // in the order of stream_at()
  std::array<std::uint8_t, kChunkValues + kSlack> reversed_bytes;
  std::size_t byte_count;
  std::array<std::uint8_t, kChunkValues + kSlack> reversed_escapes;
  std::size_t escape_count;
};

// The untrusted input of the exponent decoder.
struct ExponentStream {
  const std::uint8_t* states = nullptr;  // kStreams times u16
  const std::uint8_t* bytes = nullptr;
  std::size_t byte_count = 0;
  std::size_t readable = 0;  // bytes that may be read from `bytes` on; at least byte_count
};

// One bit per value of a chunk: whether it is sent, and the two bits of its level.
struct Masks {
  std::array<std::uint64_t, kBlocksMax> sent;
  std::array<std::uint64_t, kBlocksMax> level_low;
  std::array<std::uint64_t, kBlocksMax> level_high;
};

// The stream that takes its bytes as number `turn` within a step. In each half of 64 values, the
// streams of the even values come first, then those of the odd values.
constexpr std::size_t stream_at(std::size_t turn) {
  return turn / 64 * 64 + turn % 32 * 2 + turn / 32 % 2;
}

struct Kernels {
  // Divides a chunk into parts. With `prune`, values with exponent 0 are not sent.
  void (*split)(const float* x, std::size_t n, const LevelRule& rule, bool prune, Parts& parts);

  // Codes `steps` complete steps. The caller fills the last one with book.padding.
  void (*code_exponents)(const Codebook& book, const std::uint8_t* exponents, std::size_t steps,
                         CodedExponents& coded);
  // Decodes exponents. Returns false unless the bytes are exactly an encoder's output for `steps`
  // steps. Escaped exponents are returned as book.escape_mark.
  bool (*decode_exponents)(const Codebook& book, const ExponentStream& in, std::size_t steps,
                           std::uint8_t* exponents);
  // Replaces each mark by the next escaped exponent. Returns false if their numbers differ.
  bool (*restore_escapes)(std::uint8_t mark, const std::uint8_t* escapes, std::size_t count,
                          std::uint8_t* exponents, std::size_t n);

  // Packs fields of `bits` bits, at most 24, into words of 32 bits; see packed_words(). Fields
  // after the last one must be zero up to a multiple of kColumns.
  void (*pack)(const std::uint32_t* fields, std::size_t count, unsigned bits, std::uint8_t* words);
  // Unpacks fields and shifts each up by `shift`. Writes up to a multiple of kColumns fields.
  void (*unpack)(const std::uint8_t* words, std::size_t count, unsigned bits, unsigned shift,
                 std::uint32_t* fields);

  // Finds the sent values and returns their number.
  std::size_t (*find_sent)(const std::uint8_t* exponents, std::size_t n, bool prune, Masks& masks);
  // Expands the two rows of bits to masks, and counts the values of every level.
  void (*find_levels)(const std::uint8_t* low, const std::uint8_t* high, std::size_t n,
                      Masks& masks, std::array<std::size_t, kLevels>& counts);

  // Joins exponents and fractions. fractions[level] holds the unpacked fractions of that level's
  // values.
  void (*join)(const std::uint8_t* exponents, const Masks& masks,
               const std::array<const std::uint32_t*, kLevels>& fractions, std::size_t n, float* x);
  // Does the same for a chunk whose values are all sent at one level, directly from the packed
  // words.
  void (*join_all)(const std::uint8_t* exponents, const std::uint8_t* words, unsigned level,
                   std::size_t n, float* x);
};

// The layout of packed fields. Field i is in column i mod 16. The fields of a column follow one
// another from the low bit of its first word upwards; word w of column c is word 16 w + c. All
// columns can therefore be processed in one vector.
constexpr std::size_t kColumns = 16;
constexpr std::size_t packed_words(std::size_t count, unsigned bits) {
  const std::size_t rows = (count + kColumns - 1) / kColumns;
  return (rows * bits + 31) / 32 * kColumns;
}

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::gcomp
