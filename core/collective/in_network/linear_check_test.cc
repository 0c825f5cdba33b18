#include "core/collective/in_network/linear_check.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "core/base/random.h"

namespace tributary::in_network {
namespace {

constexpr std::uint64_t kSecret = 0x123456789abcdef0u;

std::vector<std::uint32_t> drawn(std::size_t n, std::uint32_t seed, std::uint32_t below) {
  std::vector<std::uint32_t> values(n);
  for (std::uint32_t i = 0; i < n; ++i) values[i] = random_bits({seed, 9}, i) % below;
  return values;
}

template <typename Value>
std::vector<Value> as(const std::vector<std::uint32_t>& values) {
  std::vector<Value> out;
  for (const std::uint32_t v : values) out.push_back(static_cast<Value>(v));
  return out;
}

template <typename Value>
std::uint64_t check_of(const std::vector<Value>& values, std::uint64_t secret = kSecret) {
  return LinearCheck(secret).of(std::span<const Value>(values));
}

TEST(LinearCheck, TheFieldIsThatOfThePrime) {
  EXPECT_EQ(linear_times(kLinearPrime - 1, kLinearPrime - 1), 1u);
  EXPECT_EQ(linear_plus(kLinearPrime - 1, 1), 0u);
  EXPECT_EQ(linear_times(std::uint64_t{1} << 60, 2), 1u);  // 2^61 = 1
}

TEST(LinearCheck, AllWidthsAgree) {
  for (const std::size_t n : {0u, 1u, 63u, 1023u, 1024u, 1025u, 5000u}) {
    const auto values = drawn(n, 1, 256);
    EXPECT_EQ(check_of(as<std::uint8_t>(values)), check_of(values)) << n;
    const auto wide = drawn(n, 2, 65'536);
    EXPECT_EQ(check_of(as<std::uint16_t>(wide)), check_of(wide)) << n;
  }
}

TEST(LinearCheck, LevelsAreLookedUp) {
  std::array<std::uint16_t, 16> table = {};
  for (std::size_t i = 0; i < 16; ++i) table[i] = static_cast<std::uint16_t>(i * i * 4);
  for (const std::size_t bytes : {0u, 1u, 32u, 511u, 512u, 700u, 2048u}) {
    Bytes packed(bytes);
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < bytes; ++i) {
      packed[i] = static_cast<std::uint8_t>(random_bits({3, 4}, i));
      places.push_back(table[packed[i] & 15]);
      places.push_back(table[packed[i] >> 4]);
    }
    EXPECT_EQ(LinearCheck(kSecret).of_levels(packed, table), check_of(places)) << bytes;
  }
}

// Four agents; the sums are as an aggregator would return them.
class TamperedSums : public testing::Test {
 protected:
  TamperedSums() : sums_(5000) {
    for (std::uint32_t a = 0; a < 4; ++a) {
      const auto values = drawn(sums_.size(), 10 + a, 1024);
      sent_.push_back(check_of(values));
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += values[i];
    }
  }
  bool pass(const std::vector<std::uint32_t>& sums) const {
    return sums_agree(sent_, check_of(sums));
  }

  std::vector<std::uint32_t> sums_;
  std::vector<std::uint64_t> sent_;
};

TEST_F(TamperedSums, HonestSumsPass) { EXPECT_TRUE(pass(sums_)); }

TEST_F(TamperedSums, ErrorsOfOneAndOfAHighBitAreFound) {
  for (const std::size_t at : {0u, 1u, 1023u, 1024u, 4999u}) {
    for (const std::uint32_t error : {1u, ~0u, 1u << 31}) {
      auto sums = sums_;
      sums[at] += error;
      EXPECT_FALSE(pass(sums)) << at << " " << error;
    }
  }
}

TEST_F(TamperedSums, ErrorsThatCancelInAPlainSumAreFound) {
  auto sums = sums_;
  ++sums[17];
  --sums[2048];
  EXPECT_FALSE(pass(sums));
}

TEST_F(TamperedSums, PermutedValuesAreFound) {
  auto sums = sums_;
  ASSERT_NE(sums[3], sums[4]);
  std::swap(sums[3], sums[4]);
  EXPECT_FALSE(pass(sums));
  sums = sums_;
  std::rotate(sums.begin(), sums.begin() + 1024, sums.end());  // whole chunks
  EXPECT_FALSE(pass(sums));
}

// Both the sums of another bucket and the same report under another point.
TEST_F(TamperedSums, AReplayedResultIsFound) {
  auto old = sums_;
  for (std::size_t i = 0; i < 1024; ++i) old[i] = sums_[i + 1024];
  EXPECT_FALSE(pass(old));
  EXPECT_FALSE(sums_agree(sent_, check_of(sums_, kSecret + 1)));
}

// --- all buckets of an attempt ---

// Two agents and two buckets. Levels are places here, so a sum is the sum of two levels.
class AllBuckets : public testing::Test {
 protected:
  static constexpr std::uint64_t kAttempt = 77;
  static constexpr std::size_t kBytes = 640;

  AllBuckets() {
    for (std::uint16_t i = 0; i < 16; ++i) places_[i] = i;
    for (std::uint32_t bucket = 0; bucket < 2; ++bucket) {
      sums_[bucket].assign(2 * kBytes, 0);
      for (std::uint32_t agent = 0; agent < 2; ++agent) {
        Bytes levels(kBytes);
        for (std::uint32_t i = 0; i < kBytes; ++i) {
          levels[i] = static_cast<std::uint8_t>(random_bits({bucket, agent}, i));
          sums_[bucket][2 * i] = sum_of(sums_[bucket][2 * i], levels[i] & 15);
          sums_[bucket][2 * i + 1] = sum_of(sums_[bucket][2 * i + 1], levels[i] >> 4);
        }
        sent_[agent] =
            linear_plus(sent_[agent], BucketCheck(kAttempt, bucket).of_levels(levels, places_));
      }
    }
  }
  static std::uint8_t sum_of(int sum, int level) { return static_cast<std::uint8_t>(sum + level); }
  bool pass() const {
    std::uint64_t got = 0;
    for (std::uint32_t bucket = 0; bucket < 2; ++bucket) {
      got = linear_plus(got, BucketCheck(kAttempt, bucket).of_sums(sums_[bucket], false));
    }
    return sums_agree(sent_, got);
  }

  std::array<std::uint16_t, 16> places_ = {};
  std::array<Bytes, 2> sums_;
  std::array<std::uint64_t, 2> sent_ = {};
};

TEST_F(AllBuckets, HonestSumsPass) { EXPECT_TRUE(pass()); }

TEST_F(AllBuckets, ErrorsOfTwoBucketsDoNotCancel) {
  for (const std::size_t at : {0u, 1u, 1000u}) {
    ++sums_[0][at];
    --sums_[1][at];
    EXPECT_FALSE(pass()) << at;
    --sums_[0][at];
    ++sums_[1][at];
  }
  EXPECT_TRUE(pass());
}

TEST_F(AllBuckets, SumsOfAnotherBucketAreFound) {
  std::swap(sums_[0], sums_[1]);
  EXPECT_FALSE(pass());
}

TEST_F(AllBuckets, BothWidthsAgree) {
  const BucketCheck check(kAttempt, 1);
  std::vector<std::uint16_t> wide(sums_[1].begin(), sums_[1].end());
  EXPECT_EQ(
      check.of_sums(sums_[1], false),
      check.of_sums({reinterpret_cast<const std::uint8_t*>(wide.data()), 2 * wide.size()}, true));
}

}  // namespace
}  // namespace tributary::in_network
