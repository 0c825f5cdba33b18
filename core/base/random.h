// Counter-based random numbers: a draw is a function of its address and of nothing else, so that
// every thread, SIMD lane, GPU and agent that asks for it gets the same bits, in any order.
//
// An address is (job seed, round, bucket, purpose, agent) and the element. The first part is turned
// into a stream's key once, by Philox; each element then costs a short integer mix. The mix is a
// generator for noise, not a cipher: what is drawn can be predicted by who knows the job seed.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/host_device.h"

namespace tributary {

// Philox4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3").
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// What a draw is for. Two purposes never share a stream. The numbers are part of what agents agree
// on: append, never reorder.
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

// As the agent of an address: the draw is the same on all agents.
inline constexpr std::uint32_t kSharedDraw = 0xffffffff;

struct DrawAddress {
  std::uint64_t job_seed = 0;
  std::uint64_t round = 0;
  std::uint32_t bucket = 0;
  DrawPurpose purpose;
  std::uint32_t agent = kSharedDraw;
};

struct StreamKey {
  std::uint32_t a;
  std::uint32_t b;
  friend constexpr bool operator==(StreamKey, StreamKey) = default;
};

StreamKey stream_key(const DrawAddress& address);

// The mix's constants, for those who write it with vectors.
inline constexpr std::uint32_t kWeylStep = 0x9e3779b9u;
inline constexpr std::uint32_t kMixFirst = 0x21f0aaadu;
inline constexpr std::uint32_t kMixSecond = 0x735a2d97u;

// 32 random bits for one element. A stream has 2^32 elements and cannot be addressed beyond them.
// Within a stream no value comes twice: it is a permutation, so use it for noise and not to test
// for collisions.
//
// Consecutive elements are first spread by a Weyl sequence (in a loop over SIMD registers the
// product is one addition): without it elements a power of two apart, such as the rows of a matrix,
// are measurably correlated. The key goes in twice, and the second time before a whole round, or
// two streams would differ by little more than a constant.
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

// In [0, 1), a multiple of 2^-24, exact in a float.
TRIBUTARY_HD constexpr float uniform_01(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}

// Standard normal values in double, by Box and Muller, addressed like the bits they are made from.
// They reach 6.6 standard deviations. The last bit depends on the C library's log and sin: for
// generated data, not for anything that agents have to agree on.
class NormalStream {
 public:
  explicit NormalStream(const DrawAddress& address) : key_(stream_key(address)) {}

  // Elements 2 * pair and 2 * pair + 1; pair < 2^31.
  std::array<double, 2> pair(std::uint32_t pair) const;
  double at(std::uint32_t element) const { return pair(element / 2)[element % 2]; }

 private:
  StreamKey key_;
};

}  // namespace tributary
