// A stream of random draws for one drawn example or one shuffle. The stream is determined by its
// address (core/base/random.h) and is the same on every machine.
//
// A stream has 2^32 draws; after them it repeats. An object is used by one thread and costs two
// words.
#pragma once

#include <cstdint>

#include "core/base/random.h"

namespace tributary {

// Draws numbers from one stream in order. The order of calls is part of the drawn data.
class Draws {
 public:
  explicit Draws(const DrawAddress& address) : key_(stream_key(address)) {}

  // 32 uniform bits.
  std::uint32_t bits() { return random_bits(key_, next_++); }

  // Uniform in [0, n); n > 0. The probability of a number is off by less than n / 2^32.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::uint64_t{bits()} * n >> 32);
  }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

  // Uniform in [0, 1), a multiple of 2^-32.
  double unit() { return bits() * 0x1p-32; }
  float between(float low, float high) { return low + (high - low) * uniform_01(bits()); }

  // Approximately standard normal: the sum of four uniform bytes, within 3.5 standard deviations.
  // The sum of integers is exact, so the result does not depend on the C library.
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
