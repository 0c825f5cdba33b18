// Tests of random numbers by address: published vectors, fixed values for all time, and statistics
// within and between streams.
#include "core/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tributary {
namespace {

using Counter = std::array<std::uint32_t, 4>;

// The test vectors that the authors of Philox publish with Random123.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

constexpr DrawAddress kAddress{
    .job_seed = 42, .round = 7, .bucket = 3, .purpose = DrawPurpose::rounding, .agent = 5};

// Agents of different builds must agree on these values, so they must not change.
TEST(Draws, AreTheSameForEver) {
  EXPECT_EQ(stream_key(kAddress), (StreamKey{0xf8de0a73, 0x07b89dc3}));
  static_assert(random_bits({1, 2}, 3) == 0x3c62ad17);
  static_assert(random_bits({0, 0}, 1) == 0x64625032);
  static_assert(random_bits({0xffffffff, 0xffffffff}, 0xffffffff) == 0xf3976cb2);
}

using Change = std::pair<std::string, std::function<void(DrawAddress&)>>;

// A small change of each field, and of one bit in the upper half of the wide ones.
std::vector<Change> small_changes() {
  return {
      {"job_seed", [](DrawAddress& a) { ++a.job_seed; }},
      {"high half of job_seed", [](DrawAddress& a) { a.job_seed ^= std::uint64_t{1} << 32; }},
      {"round", [](DrawAddress& a) { ++a.round; }},
      {"high half of round", [](DrawAddress& a) { a.round ^= std::uint64_t{1} << 32; }},
      {"bucket", [](DrawAddress& a) { ++a.bucket; }},
      {"purpose", [](DrawAddress& a) { a.purpose = DrawPurpose::selection; }},
      {"agent", [](DrawAddress& a) { ++a.agent; }},
      {"shared", [](DrawAddress& a) { a.agent = kSharedDraw; }},
  };
}

// Both halves of a key as one number.
std::uint64_t joined(StreamKey key) { return std::uint64_t{key.a} << 32 | key.b; }

// Every single-bit change of the address must give a new key.
TEST(StreamKey, DependsOnEveryBitOfTheAddress) {
  std::set<std::uint64_t> keys = {joined(stream_key(kAddress))};
  int flipped = 0;
  const auto take = [&](DrawAddress address) {
    const std::uint64_t key = joined(stream_key(address));
    EXPECT_TRUE(keys.insert(key).second);
    flipped += std::popcount(key ^ joined(stream_key(kAddress)));
  };
  for (int bit = 0; bit < 64; ++bit) {
    DrawAddress seed = kAddress, round = kAddress;
    seed.job_seed ^= std::uint64_t{1} << bit;
    round.round ^= std::uint64_t{1} << bit;
    take(seed);
    take(round);
  }
  for (int bit = 0; bit < 32; ++bit) {
    DrawAddress bucket = kAddress, purpose = kAddress, agent = kAddress;
    bucket.bucket ^= 1u << bit;
    purpose.purpose =
        static_cast<DrawPurpose>(static_cast<std::uint32_t>(purpose.purpose) ^ 1u << bit);
    agent.agent ^= 1u << bit;
    take(bucket);
    take(purpose);
    take(agent);
  }
  // 224 keys with 64 bits each: half of the bits must change, within 6 standard deviations.
  EXPECT_NEAR(flipped, 224 * 32, 6 * std::sqrt(224 * 16.0));
}

// Statistics. Each divides pairs of draws into 256 equally likely classes and returns the deviation
// of chi-square, in standard deviations. Everything is seeded, so a failure is a property of the
// generator.

using Classes = std::function<std::uint32_t(std::uint32_t x, std::uint32_t y)>;

struct Statistic {
  std::string name;
  Classes classes;
};

std::vector<Statistic> pair_statistics() {
  return {
      {"high bits", [](auto x, auto y) { return (x >> 28) * 16 + (y >> 28); }},
      {"low bits", [](auto x, auto y) { return (x & 15) * 16 + (y & 15); }},
      {"difference", [](auto x, auto y) { return (x - y) >> 24; }},
      {"exclusive or", [](auto x, auto y) { return (x ^ y) >> 24; }},
  };
}

constexpr std::uint32_t kDraws = 1 << 18;
constexpr double kDeviationsMax = 5;

// Compares element i of one stream with element i + lag of another. Returns the deviation of
// chi-square from its mean, in standard deviations.
double deviations(const Classes& classes, StreamKey first, StreamKey second, std::uint32_t lag) {
  std::array<std::uint32_t, 256> seen = {};
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    ++seen[classes(random_bits(first, i), random_bits(second, i + lag))];
  }
  const double expected = kDraws / 256.0;
  double chi_square = 0;
  for (std::uint32_t n : seen) chi_square += (n - expected) * (n - expected) / expected;
  return (chi_square - 255) / std::sqrt(2 * 255.0);
}

StreamKey key_of_round(std::uint64_t round) {
  DrawAddress address = kAddress;
  address.round = round;
  return stream_key(address);
}

TEST(RandomBits, FillEveryByteEvenly) {
  for (std::uint64_t round = 0; round < 8; ++round) {
    const StreamKey key = key_of_round(round);
    for (int shift : {0, 8, 16, 24}) {
      const auto byte = [&](std::uint32_t x, std::uint32_t) { return (x >> shift) & 255; };
      EXPECT_LT(std::abs(deviations(byte, key, key, 0)), kDeviationsMax) << shift;
    }
  }
}

// Neighbouring elements, and elements as far apart as the rows of matrices.
TEST(RandomBits, AreNotCorrelatedWithinAStream) {
  const StreamKey key = key_of_round(11);
  for (std::uint32_t lag : {1u, 2u, 3u, 4u, 8u, 16u, 64u, 100u, 256u, 784u, 1024u, 4096u, 65536u}) {
    for (const auto& [name, classes] : pair_statistics()) {
      EXPECT_LT(deviations(classes, key, key, lag), kDeviationsMax) << name << ", lag " << lag;
    }
  }
}

// Streams whose addresses differ in one field must be independent.
TEST(RandomBits, AreNotCorrelatedBetweenNeighbouringStreams) {
  for (const auto& [field, change] : small_changes()) {
    for (std::uint64_t round : {0u, 1u, 2u}) {
      DrawAddress address = kAddress;
      address.round = round;
      DrawAddress other = address;
      change(other);
      for (const auto& [name, classes] : pair_statistics()) {
        EXPECT_LT(deviations(classes, stream_key(address), stream_key(other), 0), kDeviationsMax)
            << name << ", " << field;
      }
    }
  }
}

// Half of a key may be equal by chance; the other half alone must separate the streams.
TEST(RandomBits, AreNotCorrelatedWhenHalfTheKeyIsShared) {
  for (std::uint64_t round = 0; round < 8; ++round) {
    const StreamKey key = key_of_round(round);
    const StreamKey other = key_of_round(round + 100);
    for (const auto& [name, classes] : pair_statistics()) {
      EXPECT_LT(deviations(classes, key, {key.a, other.b}, 0), kDeviationsMax) << name;
      EXPECT_LT(deviations(classes, key, {other.a, key.b}, 0), kDeviationsMax) << name;
    }
  }
}

// The avalanche criterion: a change of any input bit changes each output bit with probability 1/2.
TEST(RandomBits, FlipByHalfWithEveryBitOfKeyAndElement) {
  constexpr int kTrials = 1 << 14;
  constexpr double kBiasMax = 6 * 0.5 / 128;  // six standard deviations for this number of trials
  for (int input_bit = 0; input_bit < 96; ++input_bit) {
    const std::uint32_t flip = 1u << (input_bit % 32);
    std::array<int, 32> flipped = {};
    for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
      const auto draw = philox4x32({trial, 0, 0, 0}, {0, 0});
      StreamKey key{draw[0], draw[1]};
      std::uint32_t element = draw[2];
      const std::uint32_t before = random_bits(key, element);
      (input_bit < 32 ? key.a : input_bit < 64 ? key.b : element) ^= flip;
      const std::uint32_t changed = before ^ random_bits(key, element);
      for (unsigned bit = 0; bit < 32; ++bit) flipped[bit] += static_cast<int>(changed >> bit & 1);
    }
    for (int n : flipped) {
      EXPECT_NEAR(static_cast<double>(n) / kTrials, 0.5, kBiasMax) << "input bit " << input_bit;
    }
  }
}

// The mix is a permutation of the elements.
TEST(RandomBits, NeverRepeatWithinAStream) {
  std::vector<std::uint32_t> draws(1 << 20);
  for (std::uint32_t i = 0; i < draws.size(); ++i) draws[i] = random_bits(key_of_round(1), i);
  std::sort(draws.begin(), draws.end());
  EXPECT_EQ(std::adjacent_find(draws.begin(), draws.end()), draws.end());
}

TEST(Uniform, LiesInZeroToOneWithoutOne) {
  EXPECT_EQ(uniform_01(0), 0.0f);
  EXPECT_EQ(uniform_01(0xffffffff), 1.0f - 0x1p-24f);
  EXPECT_EQ(uniform_01(0x80000000), 0.5f);
  double sum = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) sum += uniform_01(random_bits(key_of_round(2), i));
  EXPECT_NEAR(sum / kDraws, 0.5, 5 / std::sqrt(12.0 * kDraws));
}

TEST(NormalStream, HasTheMomentsAndTailsOfANormal) {
  const NormalStream normals(kAddress);
  std::array<double, 4> moments = {};
  int beyond_two = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const double x = normals.at(i);
    double power = 1;
    for (double& moment : moments) moment += (power *= x) / kDraws;
    beyond_two += std::abs(x) > 2 ? 1 : 0;
  }
  // Five standard deviations of each mean; the powers have the variances 1, 2, 15 and 96.
  const double unit = 5 / std::sqrt(double{kDraws});
  EXPECT_NEAR(moments[0], 0, unit);
  EXPECT_NEAR(moments[1], 1, unit * std::sqrt(2.0));
  EXPECT_NEAR(moments[2], 0, unit * std::sqrt(15.0));
  EXPECT_NEAR(moments[3], 3, unit * std::sqrt(96.0));
  EXPECT_NEAR(beyond_two / double{kDraws}, 0.0455, unit * std::sqrt(0.0455));
}

TEST(NormalStream, AddressesSinglesAndPairsAlike) {
  const NormalStream normals(kAddress);
  for (std::uint32_t i : {0u, 1u, 1000u, 0x7fffffffu}) {
    EXPECT_EQ(normals.at(2 * i), normals.pair(i)[0]);
    EXPECT_EQ(normals.at(2 * i + 1), normals.pair(i)[1]);
    EXPECT_TRUE(std::isfinite(normals.at(2 * i)));
  }
}

// Both values of a pair come from the same two draws.
TEST(NormalStream, PairsAreNotCorrelated) {
  const NormalStream normals(kAddress);
  double product = 0;
  double square_product = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const auto [x, y] = normals.pair(i);
    product += x * y / kDraws;
    square_product += (x * x - 1) * (y * y - 1) / kDraws;
  }
  EXPECT_NEAR(product, 0, 5 / std::sqrt(double{kDraws}));
  EXPECT_NEAR(square_product, 0, 5 * 2 / std::sqrt(double{kDraws}));
}

}  // namespace
}  // namespace tributary
