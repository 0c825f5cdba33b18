// Packs fields of 1 to 32 bits from the low bit of the first byte upwards: the first of two 4-bit
// fields has the low nibble. Fields come in groups of 64, which fill whole 64-bit words.
//
// The functions are pure. `n` is a multiple of 64, and `bits` is at most the width of Field.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tributary::thc {

// Packs fields whose unused bits are zero. `out` may be the memory of `fields`, because packing
// never writes ahead of its reading.
template <typename Field>
void pack_fields(const Field* fields, std::size_t n, unsigned bits, std::uint8_t* out) {
  assert(n % 64 == 0 && bits >= 1 && bits <= 8 * sizeof(Field));
  if (bits == 8 * sizeof(Field)) {
    std::memmove(out, fields, n * sizeof(Field));
    return;
  }
  std::uint64_t window = 0;
  unsigned filled = 0;
  for (std::size_t i = 0; i < n; ++i) {
    window |= std::uint64_t{fields[i]} << filled;
    filled += bits;
    if (filled < 32) continue;
    const auto word = static_cast<std::uint32_t>(window);
    std::memcpy(out, &word, sizeof(word));
    out += sizeof(word);
    window >>= 32;
    filled -= 32;
  }
}

template <typename Field>
void unpack_fields(const std::uint8_t* in, std::size_t n, unsigned bits, Field* fields) {
  assert(n % 64 == 0 && bits >= 1 && bits <= 8 * sizeof(Field));
  if (bits == 8 * sizeof(Field)) {
    std::memcpy(fields, in, n * sizeof(Field));
    return;
  }
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::uint64_t window = 0;
  unsigned filled = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (filled < bits) {
      std::uint32_t word;
      std::memcpy(&word, in, sizeof(word));
      in += sizeof(word);
      window |= std::uint64_t{word} << filled;
      filled += 32;
    }
    fields[i] = static_cast<Field>(window & mask);
    window >>= bits;
    filled -= bits;
  }
}

}  // namespace tributary::thc
