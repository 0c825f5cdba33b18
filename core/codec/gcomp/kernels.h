// The loops over one chunk, once as the plain specification and once in SIMD (Highway, at the best
// width that the machine has). Both give the same bytes; tests and a fuzzer hold them together.
//
// A chunk is taken apart into `Parts` (split), whose exponents are coded (code_exponents) and whose
// fractions are packed level by level (pack); the way back is decode_exponents, restore_escapes,
// find_sent, find_levels, unpack and join.
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

// A step of the exponent coder takes one value for each of its streams: value i of a chunk belongs
// to stream i mod kStreams.
constexpr std::size_t kStreams = 128;
constexpr std::size_t kStepsMax = kChunkValues / kStreams;
constexpr std::size_t kBlock = 64;  // values whose masks make one word
constexpr std::size_t kBlocksMax = kChunkValues / kBlock;
constexpr std::size_t kSlack = 64;  // that a vector may write beyond an end

// How levels are chosen. The spans of a metric begin where the chunk does.
struct LevelRule {
  enum class Kind : std::uint8_t { fixed, linear, adaptive };
  Kind kind = Kind::fixed;
  unsigned level = 0;  // for fixed
  MetricCoefficients metric = {};
  const float* parameters = nullptr;
  const float* first = nullptr;
  const float* second = nullptr;
};

// What a chunk consists of.
struct Parts {
  alignas(64) std::array<std::uint8_t, kChunkValues + kStreams> exponents;
  // The fractions of each level's values, in order, already shifted down.
  std::array<std::array<std::uint32_t, kChunkValues + kSlack>, kLevels> fractions;
  std::array<std::size_t, kLevels> counts;
  // The levels of all values that are sent, as two rows of bits.
  std::array<std::uint64_t, kBlocksMax> level_low;
  std::array<std::uint64_t, kBlocksMax> level_high;
  // Whether pruning changed a value: one that was a denormal or -0.
  bool pruned_more_than_zeros;
};

// Coded exponents. Encoding goes from the last value to the first, so the stream's bytes and the
// escaped exponents are in reverse.
struct CodedExponents {
  alignas(64) std::array<std::uint16_t, kStreams> states;  // in the order of stream_at
  std::array<std::uint8_t, kChunkValues + kSlack> reversed_bytes;
  std::size_t byte_count;
  std::array<std::uint8_t, kChunkValues + kSlack> reversed_escapes;
  std::size_t escape_count;
};

struct ExponentStream {
  const std::uint8_t* states = nullptr;  // kStreams times u16
  const std::uint8_t* bytes = nullptr;
  std::size_t byte_count = 0;
  std::size_t readable = 0;  // bytes from `bytes` on that may be read, byte_count at least
};

// Which values are sent, and at which level, as one bit for each value of a chunk.
struct Masks {
  std::array<std::uint64_t, kBlocksMax> sent;
  std::array<std::uint64_t, kBlocksMax> level_low;
  std::array<std::uint64_t, kBlocksMax> level_high;
};

// Streams take their bytes in this order within a step: within each half of 64 values first those
// of the even ones, then those of the odd ones.
constexpr std::size_t stream_at(std::size_t turn) {
  return turn / 64 * 64 + turn % 32 * 2 + turn / 32 % 2;
}

struct Kernels {
  // With `prune`, values whose exponent is 0 are not sent.
  void (*split)(const float* x, std::size_t n, const LevelRule& rule, bool prune, Parts& parts);

  // `exponents` has a whole number of steps, filled up with book.padding.
  void (*code_exponents)(const Codebook& book, const std::uint8_t* exponents, std::size_t steps,
                         CodedExponents& coded);
  // False if the bytes are not exactly those of some exponents. Escaped exponents come out as
  // book.escape_mark.
  bool (*decode_exponents)(const Codebook& book, const ExponentStream& in, std::size_t steps,
                           std::uint8_t* exponents);
  // Puts escaped exponents in the place of marks; false if there are more or fewer of them.
  bool (*restore_escapes)(std::uint8_t mark, const std::uint8_t* escapes, std::size_t count,
                          std::uint8_t* exponents, std::size_t n);

  // Fields of `bits` bits, at most 24, in words of 32; see packed_words. Behind the fields there
  // are zeros up to a multiple of kColumns.
  void (*pack)(const std::uint32_t* fields, std::size_t count, unsigned bits, std::uint8_t* words);
  // Every field is shifted up by `shift`. Writes up to a multiple of kColumns fields.
  void (*unpack)(const std::uint8_t* words, std::size_t count, unsigned bits, unsigned shift,
                 std::uint32_t* fields);

  // Returns how many are sent.
  std::size_t (*find_sent)(const std::uint8_t* exponents, std::size_t n, bool prune, Masks& masks);
  // From the two rows of bits; counts the values of every level.
  void (*find_levels)(const std::uint8_t* low, const std::uint8_t* high, std::size_t n,
                      Masks& masks, std::array<std::size_t, kLevels>& counts);

  // fractions[level] holds the unpacked fractions of that level's values.
  void (*join)(const std::uint8_t* exponents, const Masks& masks,
               const std::array<const std::uint32_t*, kLevels>& fractions, std::size_t n, float* x);
  // The same where all values of the chunk are sent at one level, straight from the packed words.
  void (*join_all)(const std::uint8_t* exponents, const std::uint8_t* words, unsigned level,
                   std::size_t n, float* x);
};

// Field i is in column i mod 16. A column's fields follow one another from the low bit of its first
// word upwards; word w of column c is word 16 w + c.
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
