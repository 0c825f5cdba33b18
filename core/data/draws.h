// A stream of draws for one drawn example or one shuffle, from its address (core/base/random.h),
// and the same on every machine.
#pragma once

#include <cstdint>

#include "core/base/random.h"

namespace tributary {

class Draws {
 public:
  explicit Draws(const DrawAddress& address) : key_(stream_key(address)) {}

  std::uint32_t bits() { return random_bits(key_, next_++); }

  // In [0, n), n > 0; a number's share is off by less than n / 2^32.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::uint64_t{bits()} * n >> 32);
  }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

  // In [0, 1), a multiple of 2^-32.
  double unit() { return bits() * 0x1p-32; }
  float between(float low, float high) { return low + (high - low) * uniform_01(bits()); }

  // Nearly normal: four uniform bytes added, within 3.5 standard deviations.
  float noise() {
    const std::uint32_t b = bits();
    const auto sum =
        static_cast<std::int32_t>((b & 0xff) + (b >> 8 & 0xff) + (b >> 16 & 0xff) + (b >> 24));
    return static_cast<float>(sum - 510) * (1.0f / 147.8f);
  }

 private:
  StreamKey key_;
  std::uint32_t next_ = 0;
};

}  // namespace tributary
