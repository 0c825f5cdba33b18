#include "core/codec/quantize/packed_levels.h"

#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "core/base/bytes/bytes.h"

namespace tributary::quantize {
namespace {

// A 64-bit mask that repeats `lane` every `lane_bits` bits. join() and part() use it to select one
// of each pair of lanes.
constexpr std::uint64_t repeat(std::uint64_t lane, int lane_bits) {
  std::uint64_t all = 0;
  for (int at = 0; at < 64; at += lane_bits) all |= lane << at;
  return all;
}
constexpr std::uint64_t low_bits(int bits) { return (std::uint64_t{1} << bits) - 1; }

// Converts eight levels to codes of one byte each: the sign above the magnitude.
template <int kBits>
std::uint64_t code_bytes(const std::int8_t* levels) {
  std::array<std::uint8_t, 8> codes;
  for (std::size_t i = 0; i < 8; ++i) {
    const int sign = levels[i] < 0 ? 1 : 0;
    codes[i] =
        static_cast<std::uint8_t>((sign != 0 ? -levels[i] : levels[i]) | sign << (kBits - 1));
  }
  return std::bit_cast<std::uint64_t>(codes);
}

// The inverse of code_bytes().
template <int kBits>
void level_bytes(std::uint64_t word, std::int8_t* levels) {
  const auto codes = std::bit_cast<std::array<std::uint8_t, 8>>(word);
  for (std::size_t i = 0; i < 8; ++i) {
    const int magnitude = codes[i] & level_max(kBits);
    const int minus = -(codes[i] >> (kBits - 1));
    levels[i] = static_cast<std::int8_t>((magnitude ^ minus) - minus);
  }
}

// Moves eight codes of one byte each together, in three steps: bytes to pairs, pairs to groups of
// four, groups of four to eight.
template <int kBits>
std::uint64_t join(std::uint64_t x) {
  constexpr std::uint64_t kBytes = repeat(low_bits(8), 16);
  constexpr std::uint64_t kPairs = repeat(low_bits(16), 32);
  constexpr std::uint64_t kFours = low_bits(32);
  x = (x & kBytes) | (x & ~kBytes) >> (8 - kBits);
  x = (x & kPairs) | (x & ~kPairs) >> (16 - 2 * kBits);
  return (x & kFours) | (x & ~kFours) >> (32 - 4 * kBits);
}

// The inverse of join().
template <int kBits>
std::uint64_t part(std::uint64_t x) {
  constexpr std::uint64_t kFours = low_bits(4 * kBits);
  constexpr std::uint64_t kPairs = repeat(low_bits(2 * kBits), 32);
  constexpr std::uint64_t kBytes = repeat(low_bits(kBits), 16);
  x = (x & kFours) | (x & ~kFours) << (32 - 4 * kBits);
  x = (x & kPairs) | (x & ~kPairs) << (16 - 2 * kBits);
  return (x & kBytes) | (x & ~kBytes) << (8 - kBits);
}

template <int kBits>
void pack(std::span<const std::int8_t> levels, std::uint8_t* out) {
  std::size_t i = 0;
  for (; i + 8 <= levels.size(); i += 8, out += kBits) {
    const std::uint64_t word = join<kBits>(code_bytes<kBits>(levels.data() + i));
    std::memcpy(out, &word, kBits);
  }
  if (i == levels.size()) return;
  // The last group is filled with zero levels, so that its unused bits are zero.
  std::array<std::int8_t, 8> rest = {};
  std::memcpy(rest.data(), levels.data() + i, levels.size() - i);
  const std::uint64_t word = join<kBits>(code_bytes<kBits>(rest.data()));
  std::memcpy(out, &word, packed_bytes(levels.size() - i, kBits));
}

template <int kBits>
void unpack(const std::uint8_t* in, std::span<std::int8_t> levels) {
  std::size_t i = 0;
  for (; i + 8 <= levels.size(); i += 8, in += kBits) {
    std::uint64_t word = 0;
    std::memcpy(&word, in, kBits);
    level_bytes<kBits>(part<kBits>(word), levels.data() + i);
  }
  if (i == levels.size()) return;
  std::uint64_t word = 0;
  std::memcpy(&word, in, packed_bytes(levels.size() - i, kBits));
  std::array<std::int8_t, 8> rest;
  level_bytes<kBits>(part<kBits>(word), rest.data());
  std::memcpy(levels.data() + i, rest.data(), levels.size() - i);
}

constexpr std::size_t kWidths = kPackedBitsMax - kPackedBitsMin + 1;
using Pack = void (*)(std::span<const std::int8_t>, std::uint8_t*);
using Unpack = void (*)(const std::uint8_t*, std::span<std::int8_t>);

constexpr auto kPack = []<int... kOffset>(std::integer_sequence<int, kOffset...>) {
  return std::array<Pack, kWidths>{pack<kPackedBitsMin + kOffset>...};
}
(std::make_integer_sequence<int, kWidths>());

constexpr auto kUnpack = []<int... kOffset>(std::integer_sequence<int, kOffset...>) {
  return std::array<Unpack, kWidths>{unpack<kPackedBitsMin + kOffset>...};
}
(std::make_integer_sequence<int, kWidths>());

std::size_t row_of(int bits) {
  assert(bits >= kPackedBitsMin && bits <= kPackedBitsMax);
  return static_cast<std::size_t>(bits - kPackedBitsMin);
}

}  // namespace

void pack_levels(std::span<const std::int8_t> levels, int bits, std::uint8_t* out) {
  kPack[row_of(bits)](levels, out);
}

void unpack_levels(const std::uint8_t* in, int bits, std::span<std::int8_t> levels) {
  kUnpack[row_of(bits)](in, levels);
}

}  // namespace tributary::quantize
