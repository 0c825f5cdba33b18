// The exponent code: canonical Huffman with codes of at most n_θ bits, and one escape code, behind
// which an exponent without a code of its own travels as it is.
//
// Which exponents get a code, and of which length, is an exact optimum: for every number of most
// frequent exponents the best code with limited lengths is found by package-merge, the rest pays
// escape plus 8 bits, and the cheapest number wins. The escape always has a code, because a
// codebook outlives the histogram it was made from.
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

using Histogram = std::array<std::uint64_t, kExponents>;

// Lengths of optimal prefix codes of at most `bits_max` bits for 2 to 2^bits_max ascending weights.
std::vector<std::uint8_t> limited_lengths(std::span<const std::uint64_t> ascending,
                                          unsigned bits_max);

// A code of every exponent, ready to encode and to decode. Codes are read from the low bit upwards.
struct Codebook {
  std::uint32_t version = 0;
  std::array<std::uint8_t, kExponents + 1> bits = {};  // 0: the exponent is escaped

  // By exponent; an escaped one has the escape's code and its flag in bits_or_escape.
  alignas(64) std::array<std::uint8_t, kExponents> code = {};
  alignas(64) std::array<std::uint8_t, kExponents> bits_or_escape = {};

  // By the next 8 bits of a stream.
  alignas(64) std::array<std::uint8_t, kExponents> next_exponent = {};
  alignas(64) std::array<std::uint8_t, kExponents> next_bits = {};

  // An exponent without a code: decoding gives it for the escape code, as a mark.
  std::uint8_t escape_mark = 0;
  // The exponent with the shortest code fills up the last step of a stream.
  std::uint8_t padding = 0;
};

constexpr std::uint8_t kEscapeFlag = 0x80;

Codebook make_codebook(const Histogram& histogram, unsigned bits_max, std::uint32_t version);

//   byte 0  u32  version
//        4  u8   bits of the escape code
//        5  u8   zero, three times
//        8  u4   bits of every exponent's code, 0 for none
void write_codebook(const Codebook& book, MutableByteSpan out);

// Refuses lengths over bits_max and lengths that leave codes unused or use them twice.
Result<Codebook> read_codebook(ByteSpan in, unsigned bits_max);

}  // namespace tributary::gcomp
