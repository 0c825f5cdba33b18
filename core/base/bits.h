// Fields of 1 to 32 bits, packed from the low bit of the first byte upwards.
#pragma once

#include <cassert>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.h"

namespace tributary {

constexpr std::size_t packed_bytes(std::uint64_t count, unsigned bits_each) {
  return static_cast<std::size_t>((count * bits_each + 7) / 8);
}

// The bits needed to tell the values 0..value_max apart; 0 needs none.
constexpr unsigned bits_for(std::uint64_t value_max) {
  return static_cast<unsigned>(std::bit_width(value_max));
}

class BitWriter {
 public:
  explicit BitWriter(Bytes& out) : out_(out) {}

  void write(std::uint32_t value, unsigned bits) {
    assert(bits <= 32 && (bits == 32 || value >> bits == 0));
    window_ |= static_cast<std::uint64_t>(value) << filled_;
    filled_ += bits;
    while (filled_ >= 8) {
      out_.push_back(static_cast<std::uint8_t>(window_));
      window_ >>= 8;
      filled_ -= 8;
    }
  }
  // Fills the last byte with zero bits.
  void finish() {
    if (filled_ > 0) out_.push_back(static_cast<std::uint8_t>(window_));
    window_ = 0;
    filled_ = 0;
  }

 private:
  Bytes& out_;
  std::uint64_t window_ = 0;
  unsigned filled_ = 0;
};

class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  Result<std::uint32_t> read(unsigned bits, std::string_view field) {
    assert(bits <= 32);
    while (filled_ < bits) {
      if (position_ == bytes_.size()) return cut_short(field, bits);
      window_ |= static_cast<std::uint64_t>(bytes_[position_++]) << filled_;
      filled_ += 8;
    }
    const auto value = static_cast<std::uint32_t>(window_ & ((std::uint64_t{1} << bits) - 1));
    window_ >>= bits;
    filled_ -= bits;
    return value;
  }
  std::uint64_t bits_remaining() const { return (bytes_.size() - position_) * 8 + filled_; }

  // An error unless what is left is padding: fewer than 8 bits, all zero.
  Status expect_padding(std::string_view what) const;

 private:
  Status cut_short(std::string_view field, unsigned bits) const;

  ByteSpan bytes_;
  std::size_t position_ = 0;
  std::uint64_t window_ = 0;
  unsigned filled_ = 0;
};

}  // namespace tributary
