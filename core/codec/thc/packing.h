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

// Eight fields of fewer than 8 bits, in the bytes of a word or packed in its low bits. Three steps
// move them: neighbours, pairs and halves.
class EightFields {
 public:
  constexpr explicit EightFields(unsigned bits)
      : bits_(bits),
        one_(repeated((1u << bits) - 1, 16)),
        two_(repeated((1u << 2 * bits) - 1, 32)),
        four_((std::uint64_t{1} << 4 * bits) - 1) {}

  // `bytes` has no other bits than those of the fields.
  constexpr std::uint64_t packed(std::uint64_t bytes) const {
    std::uint64_t x = bytes;
    x = (x & one_) | ((x >> (8 - bits_)) & (one_ << bits_));
    x = (x & two_) | ((x >> (16 - 2 * bits_)) & (two_ << 2 * bits_));
    return (x & four_) | ((x >> (32 - 4 * bits_)) & (four_ << 4 * bits_));
  }
  // Ignores all bits after the eighth field.
  constexpr std::uint64_t unpacked(std::uint64_t fields) const {
    std::uint64_t x = fields;
    x = (x & four_) | ((x << (32 - 4 * bits_)) & (four_ << 32));
    x = (x & two_) | ((x << (16 - 2 * bits_)) & (two_ << 16));
    return (x & one_) | ((x << (8 - bits_)) & (one_ << 8));
  }

  constexpr std::uint64_t one() const { return one_; }
  constexpr std::uint64_t two() const { return two_; }
  constexpr std::uint64_t four() const { return four_; }

 private:
  static constexpr std::uint64_t repeated(std::uint64_t pattern, unsigned distance) {
    std::uint64_t all = 0;
    for (unsigned at = 0; at < 64; at += distance) all |= pattern << at;
    return all;
  }

  unsigned bits_;
  std::uint64_t one_;   // the first of every two fields in bytes
  std::uint64_t two_;   // the first of both pairs
  std::uint64_t four_;  // the first half
};

// Calls move(bytes) for every eight of n fields of `bits` bits, in ascending order. `bytes` is how
// many packed bytes may be touched: 8, or `bits` at the end, where 8 would exceed the array.
template <typename Move>
void for_each_eight(std::size_t n, unsigned bits, const Move& move) {
  const std::size_t groups = n / 8;
  const std::size_t exact = (8 + bits - 1) / bits;  // groups whose 8 bytes may exceed the array
  std::size_t i = 0;
  for (; i + exact < groups; ++i) move(i, sizeof(std::uint64_t));
  for (; i < groups; ++i) move(i, bits);
}

// Packs fields whose unused bits are zero. `out` may be the memory of `fields`, because packing
// never writes ahead of its reading.
template <typename Field>
void pack_fields(const Field* fields, std::size_t n, unsigned bits, std::uint8_t* out) {
  assert(n % 64 == 0 && bits >= 1 && bits <= 8 * sizeof(Field));
  if (bits == 8 * sizeof(Field)) {
    std::memmove(out, fields, n * sizeof(Field));
    return;
  }
  if constexpr (sizeof(Field) == 1) {
    const EightFields eight(bits);
    for_each_eight(n, bits, [&](std::size_t i, std::size_t bytes) {
      std::uint64_t word;
      std::memcpy(&word, fields + 8 * i, sizeof(word));
      word = eight.packed(word);
      std::memcpy(out + i * bits, &word, bytes);
    });
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
  if constexpr (sizeof(Field) == 1) {
    const EightFields eight(bits);
    for_each_eight(n, bits, [&](std::size_t i, std::size_t bytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, in + i * bits, bytes);
      word = eight.unpacked(word);
      std::memcpy(fields + 8 * i, &word, sizeof(word));
    });
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
