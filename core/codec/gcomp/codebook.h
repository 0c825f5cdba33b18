// The exponent code of GComp: a canonical Huffman code with a limited code length, and one escape
// code. An exponent without a code of its own is sent raw after the escape code.
//
// The choice of the exponents with a code, and of the code lengths, is an exact optimum. For each
// number of most frequent exponents, package-merge finds the best code with limited lengths. The
// remaining exponents cost the escape code plus 8 bits. The cheapest number is used. The escape
// always has a code, because a codebook is also used for later rounds than the one of its
// histogram.
//
// All functions are pure. A Codebook is a value that threads may share after it was made; it has
// about 1.3 kB.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary::gcomp {

constexpr unsigned kExponents = 256;
constexpr unsigned kEscape = 256;  // the symbol after the exponents
constexpr unsigned kCodeBitsMax = 8;
constexpr unsigned kCodeBitsMin = 2;
constexpr std::size_t kCodebookBytes = 136;

// Number of occurrences of each exponent.
using Histogram = std::array<std::uint64_t, kExponents>;

// Returns the lengths of optimal prefix codes of at most `bits_max` bits. The weights must be
// ascending, and their number must be 2 to 2^bits_max.
std::vector<std::uint8_t> limited_lengths(std::span<const std::uint64_t> ascending,
                                          unsigned bits_max);

// A code with its tables for encoding and decoding. Codes are read from the low bit upwards.
struct Codebook {
  std::uint32_t version = 0;
  std::array<std::uint8_t, kExponents + 1> bits = {};  // code lengths; 0: the exponent is escaped

  // Indexed by exponent. An escaped exponent has the code of the escape, and the flag in
  // bits_or_escape.
  alignas(64) std::array<std::uint8_t, kExponents> code = {};
  alignas(64) std::array<std::uint8_t, kExponents> bits_or_escape = {};

  // Indexed by the next 8 bits of a stream.
  alignas(64) std::array<std::uint8_t, kExponents> next_exponent = {};
  alignas(64) std::array<std::uint8_t, kExponents> next_bits = {};

  // An exponent without a code, which the decoder writes for the escape code.
  std::uint8_t escape_mark = 0;
  // The exponent with the shortest code. It fills the last step of a stream.
  std::uint8_t padding = 0;
};

constexpr std::uint8_t kEscapeFlag = 0x80;

// Makes the best code for the histogram, with codes of at most `bits_max` bits (2 to 8). An empty
// histogram gives some valid code.
Codebook make_codebook(const Histogram& histogram, unsigned bits_max, std::uint32_t version);

// Writes kCodebookBytes bytes:
//
//   byte 0  u32  version
//        4  u8   bits of the escape code
//        5  u8   zero, three times
//        8  u4   bits of every exponent's code, 0 for none
void write_codebook(const Codebook& book, MutableByteSpan out);

// Reads an untrusted codebook. Lengths above bits_max, and lengths that leave codes unused or use
// them twice, give corrupt_data.
Result<Codebook> read_codebook(ByteSpan in, unsigned bits_max);

}  // namespace tributary::gcomp
