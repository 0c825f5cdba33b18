// A sequence of bits in 64-bit words, written and read in groups of up to 64. GComp stores the
// lower and the upper bits of its levels in two such planes.
//
// The classes do not check bounds: the caller guarantees the size. Each object serves one thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tributary::gcomp {

// Size of a plane of `bits` bits, in bytes; whole words.
constexpr std::size_t plane_bytes(std::size_t bits) { return (bits + 63) / 64 * 8; }

// Appends bits to words of the caller. finish() writes the last incomplete word.
class PlaneWriter {
 public:
  explicit PlaneWriter(std::uint64_t* words) : words_(words) {}

  // Appends the lower `count` bits of `bits`; the others must be zero. `count` is at most 64.
  void append(std::uint64_t bits, unsigned count) {
    pending_ |= bits << filled_;
    const unsigned total = filled_ + count;
    if (total < 64) {
      filled_ = total;
      return;
    }
    *words_++ = pending_;
    pending_ = filled_ == 0 ? 0 : bits >> (64 - filled_);
    filled_ = total - 64;
  }
  void finish() {
    if (filled_ > 0) *words_ = pending_;
  }

 private:
  std::uint64_t* words_;
  std::uint64_t pending_ = 0;
  unsigned filled_ = 0;
};

// Reads bits from bytes of the caller, which need no alignment.
class PlaneReader {
 public:
  explicit PlaneReader(const std::uint8_t* words) : words_(words) {}

  // Returns the next `count` bits; the caller guarantees that they exist.
  std::uint64_t take(unsigned count) {
    if (count == 0) return 0;
    const std::size_t word = position_ / 64;
    const unsigned shift = position_ % 64;
    std::uint64_t bits = load(word) >> shift;
    if (shift + count > 64) bits |= load(word + 1) << (64 - shift);
    position_ += count;
    return count == 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
  }

 private:
  std::uint64_t load(std::size_t word) const {
    std::uint64_t value;
    std::memcpy(&value, words_ + word * 8, sizeof(value));
    return value;
  }

  const std::uint8_t* words_;
  std::size_t position_ = 0;
};

// gather_bits() moves the bits selected by `mask` together at the low end; scatter_bits() is its
// inverse. They implement pext and pdep for machines without these instructions.
inline std::uint64_t gather_bits(std::uint64_t bits, std::uint64_t mask) {
  if (mask == ~std::uint64_t{0}) return bits;
  std::uint64_t out = 0;
  for (unsigned i = 0; mask != 0; ++i, mask &= mask - 1) {
    out |= ((bits >> std::countr_zero(mask)) & 1u) << i;
  }
  return out;
}

inline std::uint64_t scatter_bits(std::uint64_t bits, std::uint64_t mask) {
  if (mask == ~std::uint64_t{0}) return bits;
  std::uint64_t out = 0;
  for (; mask != 0; mask &= mask - 1, bits >>= 1) {
    out |= (bits & 1u) << std::countr_zero(mask);
  }
  return out;
}

}  // namespace tributary::gcomp
