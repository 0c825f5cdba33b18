// Splits and joins a chunk value by value. The scalar loops use it for all values, the SIMD loops
// for the values after the last whole block.
//
// The caller provides Parts of sufficient size and values within the chunk; nothing is checked
// here. Not thread-safe.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/codec/gcomp/bit_plane.h"
#include "core/codec/gcomp/kernels.h"

namespace tributary::gcomp {

// Divides values into Parts. Call add() in ascending order of values, then finish(). The SIMD
// version appends to `low` and `high` itself.
class Splitter {
 public:
  Splitter(const LevelRule& rule, bool prune, Parts& parts)
      : rule_(rule),
        prune_(prune),
        parts_(parts),
        low(parts.level_low.data()),
        high(parts.level_high.data()) {
    parts.counts = {};
    parts.pruned_more_than_zeros = false;
  }

  void add(std::size_t i, float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    parts_.exponents[i] = static_cast<std::uint8_t>(exponent_of(bits));
    if (prune_ && exponent_of(bits) == 0) {
      if (bits != 0) parts_.pruned_more_than_zeros = true;
      return;
    }
    const unsigned level = choose_level(rule_, i, value);
    parts_.fractions[level][parts_.counts[level]++] = fraction_of(bits) >> truncated_bits(level);
    low.append(level & 1u, 1);
    high.append(level >> 1, 1);
  }

  void finish() {
    low.finish();
    high.finish();
  }

 private:
  const LevelRule& rule_;
  const bool prune_;
  Parts& parts_;

 public:
  PlaneWriter low;
  PlaneWriter high;
};

// Joins values in ascending order; it advances next[level] for each sent value.
class Joiner {
 public:
  Joiner(const std::uint8_t* exponents, const Masks& masks,
         const std::array<const std::uint32_t*, kLevels>& fractions)
      : next(fractions), exponents_(exponents), masks_(masks) {}

  float at(std::size_t i) {
    std::uint32_t fraction = 0;
    if (bit(masks_.sent, i) != 0) {
      fraction = *next[bit(masks_.level_high, i) * 2 + bit(masks_.level_low, i)]++;
    }
    return std::bit_cast<float>(tributary::gcomp::join(exponents_[i], fraction));
  }

  std::array<const std::uint32_t*, kLevels> next;

 private:
  static unsigned bit(const std::array<std::uint64_t, kBlocksMax>& row, std::size_t i) {
    return static_cast<unsigned>(row[i / kBlock] >> (i % kBlock)) & 1u;
  }

  const std::uint8_t* exponents_;
  const Masks& masks_;
};

// Reads a word of packed fields. memcpy is required, because the bytes are not an array of words.
inline std::uint32_t load_word(const std::uint8_t* words, std::size_t index) {
  std::uint32_t word;
  std::memcpy(&word, words + index * sizeof(word), sizeof(word));
  return word;
}

// Returns field i of packed words (kernels.h), with bits of two words if it crosses a word.
inline std::uint32_t field_at(const std::uint8_t* words, std::size_t i, unsigned bits) {
  const std::size_t start = i / kColumns * bits;
  const std::size_t index = start / 32 * kColumns + i % kColumns;
  std::uint64_t pair = load_word(words, index);
  if (start % 32 + bits > 32) pair |= std::uint64_t{load_word(words, index + kColumns)} << 32;
  return static_cast<std::uint32_t>(pair >> (start % 32)) & ((1u << bits) - 1);
}

// The joined value i of a chunk whose values are all sent at one level.
inline float joined_at(const std::uint8_t* exponents, const std::uint8_t* words, unsigned level,
                       std::size_t i) {
  const std::uint32_t fraction = field_at(words, i, sent_bits(level)) << truncated_bits(level);
  return std::bit_cast<float>(join(exponents[i], fraction));
}

}  // namespace tributary::gcomp
