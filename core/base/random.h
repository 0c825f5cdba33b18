// Counter-based random numbers. A draw depends only on its address, so every thread, SIMD lane, GPU
// and agent gets the same bits, in any order.
//
// An address consists of (job seed, round, bucket, purpose, agent) and the element. Philox converts
// the first part to the key of a stream once; each element then costs a short integer mix. The mix
// is a generator for noise and not a cipher: a party that knows the job seed can predict all draws.
// All functions are pure.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/host_device.h"

namespace tributary {

// Philox4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3").
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// The purpose of a draw. Two purposes never share a stream. Agents of different releases must agree
// on the numbers: append new purposes, never reorder them.
enum class DrawPurpose : std::uint32_t {
  hadamard_sign,
  rounding,
  selection,
  synthetic_data,
  data_shard,
  jitter,
  projection,
  participants,
};

// The agent of an address whose draw is the same on all agents.
inline constexpr std::uint32_t kSharedDraw = 0xffffffff;

struct DrawAddress {
  std::uint64_t job_seed = 0;
  std::uint64_t round = 0;
  std::uint32_t bucket = 0;
  DrawPurpose purpose;
  std::uint32_t agent = kSharedDraw;
};

// The key of a stream; small enough to pass by value into kernels.
struct StreamKey {
  std::uint32_t a;
  std::uint32_t b;
  friend constexpr bool operator==(StreamKey, StreamKey) = default;
};

// Computes a stream's key. Different addresses have different keys, except for collisions of a
// 64-bit hash.
StreamKey stream_key(const DrawAddress& address);

// The constants of the mix, for vectorized implementations.
inline constexpr std::uint32_t kWeylStep = 0x9e3779b9u;
inline constexpr std::uint32_t kMixFirst = 0x21f0aaadu;
inline constexpr std::uint32_t kMixSecond = 0x735a2d97u;

// Returns 32 random bits for one element. A stream has 2^32 elements. Within a stream every value
// occurs once, because the mix is a permutation. Use it for noise, but not to test for collisions.
//
// A Weyl sequence first spreads consecutive elements; in a loop over SIMD registers, the product is
// one addition. Without it, elements a power of two apart, such as the rows of a matrix, are
// measurably correlated. The key is added twice, the second time before a complete round of the
// mix. Otherwise two streams would differ by little more than a constant.
TRIBUTARY_HD constexpr std::uint32_t random_bits(StreamKey key, std::uint32_t element) {
  std::uint32_t x = element * kWeylStep + (key.a + key.b);
  x ^= x >> 16;
  x *= kMixFirst;
  x ^= key.b;
  x ^= x >> 15;
  x *= kMixSecond;
  x ^= x >> 15;
  return x;
}

// Returns a value in [0, 1): a multiple of 2^-24, which a float represents exactly.
TRIBUTARY_HD constexpr float uniform_01(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}

// Standard normal values in double (Box-Muller), addressed like the bits from which they are made.
// The largest magnitude is 6.6 standard deviations. The last bit depends on the C library's log and
// sin. Use it for generated data, but not for values on which agents must agree.
class NormalStream {
 public:
  explicit NormalStream(const DrawAddress& address) : key_(stream_key(address)) {}

  // Returns elements 2 * pair and 2 * pair + 1. Requires pair < 2^31.
  std::array<double, 2> pair(std::uint32_t pair) const;
  double at(std::uint32_t element) const { return pair(element / 2)[element % 2]; }

 private:
  StreamKey key_;
};

}  // namespace tributary
