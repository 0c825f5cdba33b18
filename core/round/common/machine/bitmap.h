// A set of small numbers (members, buckets or parts) as a row of bits.
//
// Bit i is bit i % 8 of byte i / 8, as on the wire; unused bits of the last byte are 0 unless
// received bytes set them. set() and clear() require bit < size(); test() is false beyond it. Not
// thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tributary {

class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(std::size_t bits) : Bitmap(bits, false) {}
  // `value` must be exactly a bool, so that a list of bytes selects the constructor below.
  template <std::same_as<bool> Value>
  Bitmap(std::size_t bits, Value value)
      : bytes_((bits + 7) / 8, value ? std::uint8_t{0xff} : std::uint8_t{0}), bits_(bits) {
    if (value && bits % 8 != 0) {
      bytes_.back() = static_cast<std::uint8_t>((1u << (bits % 8)) - 1);
    }
  }
  // Takes the first `bits` bits of `bytes`, which is extended with zeros or cut as needed.
  Bitmap(std::vector<std::uint8_t> bytes, std::size_t bits)
      : bytes_(std::move(bytes)), bits_(bits) {
    bytes_.resize((bits + 7) / 8, 0);
  }

  std::size_t size() const { return bits_; }
  bool test(std::size_t bit) const {
    return bit < bits_ && ((bytes_[bit / 8] >> (bit % 8)) & 1u) != 0;
  }
  void set(std::size_t bit) {
    bytes_[bit / 8] = static_cast<std::uint8_t>(bytes_[bit / 8] | (1u << (bit % 8)));
  }
  void clear(std::size_t bit) {
    bytes_[bit / 8] = static_cast<std::uint8_t>(bytes_[bit / 8] & ~(1u << (bit % 8)));
  }
  // Sets every bit that is set in `other` and below size().
  void add(const Bitmap& other) {
    for (std::size_t bit = 0; bit < std::min(bits_, other.bits_); ++bit) {
      if (other.test(bit)) set(bit);
    }
  }
  std::uint32_t count() const { return count_before(bits_); }
  // Number of set bits below `bit`: the rank of a member among the members in the set.
  std::uint32_t count_before(std::size_t bit) const {
    std::uint32_t count = 0;
    std::size_t i = 0;
    for (std::uint64_t word = 0; i + sizeof(word) <= bit / 8; i += sizeof(word)) {
      std::memcpy(&word, &bytes_[i], sizeof(word));
      count += static_cast<std::uint32_t>(std::popcount(word));
    }
    for (; i < bit / 8; ++i) {
      count += static_cast<std::uint32_t>(std::popcount(bytes_[i]));
    }
    for (i = bit - bit % 8; i < bit; ++i) count += test(i) ? 1u : 0u;
    return count;
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  friend bool operator==(const Bitmap&, const Bitmap&) = default;

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t bits_ = 0;
};

}  // namespace tributary
