// Tests of selecting the largest values. Sorting is the reference, with ties to the lower index;
// all targets and thread counts select the same.
#include "core/codec/sparse/select.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "core/base/sanitized_testing.h"
#include "core/codec/codec_testing.h"
#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/indices/random_places.h"
#include "core/codec/sparse/radix.h"

namespace tributary::sparse {
namespace {

using codec_testing::kPatterns;
using codec_testing::Pattern;
using codec_testing::update;
using Places = std::vector<std::uint32_t>;

// Sorted by descending magnitude, then by index: the definition of the k largest.
Places sorted_places(std::span<const float> values) {
  Places places(values.size());
  std::iota(places.begin(), places.end(), 0u);
  std::ranges::sort(places, [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t x = magnitude_bits(values[a]);
    const std::uint32_t y = magnitude_bits(values[b]);
    return x != y ? x > y : a < b;
  });
  return places;
}

// The first k of a sorted list, in ascending order of indices.
Places first_ascending(const Places& sorted, std::size_t k) {
  Places places(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(k));
  std::ranges::sort(places);
  return places;
}

Places taken(const Selector::Indices& indices) {
  EXPECT_TRUE(indices.ok()) << indices.status().text();
  return indices.ok() ? Places(indices->begin(), indices->end()) : Places();
}

// All agents must compute the same k, so the rounding is fixed.
TEST(KeptOf, IsTheFloorAndAtLeastOne) {
  EXPECT_EQ(kept_of(0.01, 0), 0u);
  EXPECT_EQ(kept_of(0.01, 1), 1u);
  EXPECT_EQ(kept_of(0.01, 99), 1u);
  EXPECT_EQ(kept_of(0.01, 100), 1u);
  EXPECT_EQ(kept_of(0.01, 199), 1u);
  EXPECT_EQ(kept_of(0.01, 200), 2u);
  EXPECT_EQ(kept_of(1, 7), 7u);
  EXPECT_EQ(kept_of(1e-6, 1u << 26), 67u);
}

TEST(Selector, TopEqualsSortingOnEveryKindOfInput) {
  const std::vector<double> shares =
      kSanitized ? std::vector{0.01, 0.9} : std::vector{0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 1.0};
  Selector selector;
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : {1u, 2u, 15u, 16u, 17u, 100u, 1000u, 4099u, 70'001u}) {
      const FloatVector x = update(pattern, size, 0);
      const Places sorted = sorted_places(x);
      for (const double share : shares) {
        const std::uint32_t k = kept_of(share, size);
        for (const Backend backend : {Backend::scalar, Backend::simd}) {
          ASSERT_EQ(taken(selector.top({.backend = backend}, x, k)), first_ascending(sorted, k))
              << "pattern " << static_cast<int>(pattern) << ", " << k << " of " << size;
        }
      }
    }
  }
}

// All values are equal, and k is next to the size of a chunk.
TEST(Selector, TiesGoToTheLowerIndex) {
  Selector selector;
  FloatVector x(100'000, -2.5f);
  for (const std::uint32_t k : {1u, 2u, 63u, 65'536u, 65'537u, 99'999u}) {
    Places first(k);
    std::iota(first.begin(), first.end(), 0u);
    EXPECT_EQ(taken(selector.top({}, x, k)), first) << k;
  }
  // One larger value after all the ties; signs have no effect.
  x[99'999] = 3.0f;
  for (std::size_t i = 0; i < 99'999; i += 2) x[i] = 2.5f;
  EXPECT_EQ(taken(selector.top({}, x, 4)), (Places{0, 1, 2, 99'999}));
}

// Large values at a regular stride, or at all other indices, can mislead the sample. The guessed
// threshold is then too high or too low, and the selection must not change.
TEST(Selector, AMisleadingSampleCostsTimeAndNothingElse) {
  constexpr std::size_t kSize = 160'000;
  constexpr std::size_t kStride = kSize / 8192;  // that of the sample
  Selector selector;
  for (const bool tall_in_sample : {true, false}) {
    FloatVector x = update(Pattern::normal, kSize, 3);
    for (std::size_t i = 0; i < kSize; ++i) {
      if ((i % kStride == 0) == tall_in_sample) x[i] *= 1000.0f;
    }
    const Places sorted = sorted_places(x);
    for (const std::uint32_t k : {100u, 1600u, 30'000u}) {
      EXPECT_EQ(taken(selector.top({}, x, k)), first_ascending(sorted, k)) << tall_in_sample;
    }
  }
}

// Zeros are selected only if fewer than k values are not zero.
TEST(Selector, MostlyZeros) {
  Selector selector;
  FloatVector x(90'000, 0.0f);
  x[7] = -1e-45f;  // the smallest denormal
  x[80'000] = 1.0f;
  EXPECT_EQ(taken(selector.top({}, x, 1)), (Places{80'000}));
  EXPECT_EQ(taken(selector.top({}, x, 2)), (Places{7, 80'000}));
  EXPECT_EQ(taken(selector.top({}, x, 4)), (Places{0, 1, 7, 80'000}));
}

TEST(Selector, EveryThreadCountAndTargetSelectsTheSame) {
  FloatVector x = update(Pattern::integers, 3 * kChunkValues + 5, 1);
  const Places expected = first_ascending(sorted_places(x), 9'999);
  Selector selector;
  for (const std::size_t threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(taken(selector.top({.pool = &pool}, x, 9'999)), expected) << threads << " threads";
  }
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    EXPECT_EQ(taken(selector.top({}, x, 9'999)), expected) << hwy::TargetName(rest & -rest);
    hwy::SetSupportedTargetsForTest(0);
  }
}

// A plain implementation of the paper's MS-Topk: halve, count, then fill up from the bracket.
Places plain_mstopk(std::span<const float> x, std::uint32_t k, unsigned bisections) {
  const auto reach = [&](float threshold) {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(x, [&](float v) { return std::abs(v) >= threshold; }));
  };
  float low = 0;
  float high = 0;
  for (const float v : x) high = std::max(high, std::abs(v));
  float above = INFINITY;  // the lowest threshold that at most k values reach
  for (unsigned i = 0; i < bisections; ++i) {
    const float middle = low + (high - low) * 0.5f;
    if (middle <= low || middle > high || middle >= above) break;
    if (reach(middle) > k) {
      low = middle;
    } else {
      high = above = middle;
      if (reach(middle) == k) break;
    }
  }
  Places places;
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) >= above) places.push_back(i);
  }
  for (std::uint32_t i = 0; i < x.size() && places.size() < k; ++i) {
    if (std::abs(x[i]) >= low && std::abs(x[i]) < above) places.push_back(i);
  }
  std::ranges::sort(places);
  return places;
}

TEST(Selector, BisectionEqualsThePlainAlgorithm) {
  Selector selector;
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : {1u, 17u, 1000u, 70'001u}) {
      const FloatVector x = update(pattern, size, 0);
      for (const double share : {0.001, 0.01, 0.3, 1.0}) {
        for (const unsigned bisections : {1u, 5u, 25u}) {
          const std::uint32_t k = kept_of(share, size);
          const Places places = taken(selector.bisected({}, x, k, bisections));
          ASSERT_EQ(places.size(), k);
          ASSERT_EQ(places, plain_mstopk(x, k, bisections))
              << "pattern " << static_cast<int>(pattern) << ", " << k << " of " << size;
        }
      }
    }
  }
}

// Without values that are almost equal, 25 bisections separate the k largest.
TEST(Selector, EnoughBisectionsOfTamePlacesAreExact) {
  Selector selector;
  const FloatVector x = update(Pattern::normal, 10'000, 0);
  EXPECT_EQ(taken(selector.bisected({}, x, 100, 25)), first_ascending(sorted_places(x), 100));
}

TEST(Selector, AThresholdTakesAllThatReachItButNoZeros) {
  Selector selector;
  const FloatVector x = {0.0f, -1.0f, 2.0f, -0.0f, -3.0f, 1e-45f};
  EXPECT_EQ(taken(selector.at_least({}, x, magnitude_bits(2.0f))), (Places{2, 4}));
  EXPECT_EQ(taken(selector.at_least({}, x, 0)), (Places{1, 2, 4, 5}));
  EXPECT_EQ(taken(selector.at_least_up_to({}, x, 0, 2)), (Places{2, 4}));
  EXPECT_EQ(taken(selector.at_least_up_to({}, x, 0, 10)), (Places{1, 2, 4, 5}));
}

TEST(SampledThreshold, IsExactForTheWholeBucket) {
  const FloatVector x = update(Pattern::normal, 1000, 0);
  const Places sorted = sorted_places(x);
  const auto magnitude = [](const FloatVector& of, double ratio) {
    return sampled_magnitude({}, of, sampled_rank(1, of.size(), ratio, {1, 2}));
  };
  EXPECT_EQ(magnitude(x, 0.05), magnitude_bits(x[sorted[49]]));
  EXPECT_EQ(magnitude(x, 1), magnitude_bits(x[sorted[999]]));
  EXPECT_EQ(magnitude({}, 0.5), 0u);
}

// The share that reaches a threshold from s samples has a standard deviation of sqrt(p (1 - p) /
// s).
TEST(SampledThreshold, IsNearForASample) {
  constexpr std::size_t kSize = 1u << 20;
  constexpr std::size_t kSamples = 10'000;
  const FloatVector x = update(Pattern::lognormal, kSize, 0);
  Selector selector;
  for (const double share : {0.05, 0.25}) {
    const double deviation = std::sqrt(share * (1 - share) / kSamples);
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      const SampledRank sample =
          sampled_rank(static_cast<double>(kSamples) / kSize, kSize, share, {seed, 9});
      EXPECT_EQ(sample.count, kSamples);
      const std::uint32_t threshold = sampled_magnitude({}, x, sample);
      const auto kept = static_cast<double>(taken(selector.at_least({}, x, threshold)).size());
      EXPECT_NEAR(kept / kSize, share, 4 * deviation);
    }
  }
}

class Radix : public testing::TestWithParam<std::size_t> {};

// Integers have many ties, which `above` must count correctly.
TEST_P(Radix, FindsTheMagnitudeOfEveryRank) {
  const FloatVector x = update(Pattern::integers, GetParam(), 0);
  RawVector<std::uint32_t> magnitudes;
  for (const float v : x) magnitudes.push_back(magnitude_bits(v));
  auto sorted = magnitudes;
  std::ranges::sort(sorted, std::greater());
  for (std::uint64_t k = 1; k <= sorted.size(); k += 7) {
    const RankedMagnitude found =
        magnitude_of_rank({}, std::span<const std::uint32_t>(magnitudes), k);
    EXPECT_EQ(found.magnitude, sorted[k - 1]);
    EXPECT_EQ(found.above, static_cast<std::uint64_t>(
                               std::ranges::lower_bound(sorted, found.magnitude, std::greater()) -
                               sorted.begin()));
  }
}

INSTANTIATE_TEST_SUITE_P(FewAndMany, Radix,
                         testing::Values(1, 100, kFewMagnitudes - 1, kFewMagnitudes, 3000));

TEST(RandomPlaces, AreDistinctAscendingAndAsMany) {
  for (const std::size_t size : {1u, 2u, 63u, 64u, 65u, 1000u, 100'000u}) {
    for (const double share : {0.001, 0.3, 0.5, 0.7, 1.0}) {
      IndexVector places;
      const std::uint32_t k = kept_of(share, size);
      draw_places({}, {3, 4}, size, k, places);
      ASSERT_EQ(places.size(), k);
      EXPECT_TRUE(std::ranges::is_sorted(places));
      EXPECT_EQ(std::set(places.begin(), places.end()).size(), k);
      EXPECT_LT(places.back(), size);
    }
  }
  IndexVector none = {1};
  draw_places({}, {3, 4}, 0, 0, none);
  EXPECT_TRUE(none.empty());
}

// Each index is drawn with probability k/n. 2000 streams must stay within 5 standard deviations for
// all 50 indices.
TEST(RandomPlaces, FavourNone) {
  constexpr std::uint32_t kStreams = 2000;
  for (const std::uint32_t k : {10u, 40u}) {
    std::vector<int> hits(50);
    for (std::uint32_t s = 0; s < kStreams; ++s) {
      IndexVector places;
      draw_places({}, stream_key({.job_seed = s, .purpose = DrawPurpose::selection}), 50, k,
                  places);
      for (const std::uint32_t place : places) ++hits[place];
    }
    const double p = k / 50.0;
    for (const int hit : hits) {
      EXPECT_NEAR(hit, kStreams * p, 5 * std::sqrt(kStreams * p * (1 - p)));
    }
  }
}

}  // namespace
}  // namespace tributary::sparse
