// Bits of members, buckets and parts, from the low bit of the first byte, as they cross the wire.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <vector>

namespace tributary {

class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(std::size_t bits) : Bitmap(bits, false) {}
  // `value` is a bool and nothing that converts to one: a list of bytes is the constructor below.
  template <std::same_as<bool> Value>
  Bitmap(std::size_t bits, Value value)
      : bytes_((bits + 7) / 8, value ? std::uint8_t{0xff} : std::uint8_t{0}), bits_(bits) {
    if (value && bits % 8 != 0) {
      bytes_.back() = static_cast<std::uint8_t>((1u << (bits % 8)) - 1);
    }
  }
  // The first `bits` of these; what is not there is 0.
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
  std::uint32_t count() const { return count_before(bits_); }
  // Bits set below this one: the rank of a member among those who are in.
  std::uint32_t count_before(std::size_t bit) const {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < bit / 8; ++i) {
      count += static_cast<std::uint32_t>(std::popcount(bytes_[i]));
    }
    for (std::size_t i = bit - bit % 8; i < bit; ++i) count += test(i) ? 1u : 0u;
    return count;
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  friend bool operator==(const Bitmap&, const Bitmap&) = default;

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t bits_ = 0;
};

}  // namespace tributary
