// Tests of curves with levels of detail. A scan over all samples is the reference for queries of
// random ranges.
#include "core/run/series/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>

#include "core/base/random.h"

namespace tributary::dashboard {
namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

// Reproducible draws, so that a failure can be repeated by its seed.
class SeriesDraws {
 public:
  explicit SeriesDraws(std::uint64_t seed)
      : key_(stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data})) {}
  std::uint32_t below(std::uint32_t end) { return random_bits(key_, count_++) % end; }
  double real() { return static_cast<double>(random_bits(key_, count_++)) / 4294967296.0; }

 private:
  StreamKey key_;
  std::uint32_t count_ = 0;
};

// Equality in which a gap equals a gap.
bool same(const Sample& a, const Sample& b) {
  return a.x == b.x && (a.y == b.y || (std::isnan(a.y) && std::isnan(b.y)));
}

bool holds(const std::vector<Sample>& all, const Sample& sample) {
  return std::ranges::any_of(all, [&](const Sample& each) { return same(each, sample); });
}

// A specification of Series that inspects every sample each time.
struct Plain {
  std::size_t samples_max = 0;
  std::deque<Sample> samples = {};

  void append(Sample sample) {
    samples.push_back(sample);
    if (samples.size() > samples_max) samples.pop_front();
  }
  std::vector<Sample> between(double low, double high) const {
    std::vector<Sample> out;
    for (const Sample& each : samples) {
      if (each.x >= low && each.x < high) out.push_back(each);
    }
    return out;
  }
  std::optional<Extent> y_extent(double low, double high) const {
    std::optional<Extent> out;
    for (const Sample& each : samples) {
      if (each.x < low || each.x > high || std::isnan(each.y)) continue;
      if (!out) out = Extent{each.y, each.y};
      out = Extent{std::min(out->low, each.y), std::max(out->high, each.y)};
    }
    return out;
  }
};

// A seventh of the samples are gaps.
Sample drawn_sample(SeriesDraws& draws, double& x) {
  if (draws.below(5) != 0) x += draws.real();  // several samples may have one x
  const bool gap = draws.below(7) == 0;
  return {x, gap ? kGap : draws.real() * 100 - 50};
}

// A column of pixels is drawn by its first and last sample, its extremes, and a gap if it has one:
// six samples at most, whatever the column has.
void expect_same_column(const std::vector<Sample>& all, const std::vector<Sample>& drawn) {
  ASSERT_EQ(all.empty(), drawn.empty());
  if (all.empty()) return;
  EXPECT_TRUE(same(all.front(), drawn.front()));
  EXPECT_TRUE(same(all.back(), drawn.back()));
  EXPECT_LE(drawn.size(), 6u);
  const auto is_gap = [](const Sample& each) { return std::isnan(each.y); };
  EXPECT_EQ(std::ranges::any_of(all, is_gap), std::ranges::any_of(drawn, is_gap));
  std::vector<double> values;
  for (const Sample& each : all) {
    if (!is_gap(each)) values.push_back(each.y);
  }
  std::vector<double> values_drawn;
  for (const Sample& each : drawn) {
    EXPECT_TRUE(holds(all, each));
    if (!is_gap(each)) values_drawn.push_back(each.y);
  }
  ASSERT_EQ(values.empty(), values_drawn.empty());
  if (values.empty()) return;
  EXPECT_EQ(std::ranges::min(values), std::ranges::min(values_drawn));
  EXPECT_EQ(std::ranges::max(values), std::ranges::max(values_drawn));
}

// Twelve columns at a random place and width. One sample on each side is drawn as well, so that
// lines continue beyond the border.
void expect_same_picture(const Series& series, const Plain& plain, SeriesDraws& draws) {
  const double from = plain.samples.front().x;
  const double width = plain.samples.back().x - from + 2;
  std::vector<double> borders = {from - 1 + draws.real() * width / 2};
  const double step = draws.real() * width / 10;
  for (int column = 0; column < 12; ++column) borders.push_back(borders.back() + step);

  std::vector<Sample> drawn = {{1e300, 7}};
  series.draw(borders, drawn);
  EXPECT_TRUE(std::ranges::is_sorted(drawn, {}, &Sample::x));
  const std::vector<Sample> left = plain.between(-kEndless, borders.front());
  const std::vector<Sample> right = plain.between(borders.back(), kEndless);
  if (!left.empty()) {
    ASSERT_FALSE(drawn.empty());
    EXPECT_TRUE(same(drawn.front(), left.back()));
    drawn.erase(drawn.begin());
  }
  if (!right.empty()) {
    ASSERT_FALSE(drawn.empty());
    EXPECT_TRUE(same(drawn.back(), right.front()));
    drawn.pop_back();
  }
  auto next = drawn.begin();
  for (std::size_t column = 0; column + 1 < borders.size(); ++column) {
    const auto begin = next;
    next = std::find_if(begin, drawn.end(),
                        [&](const Sample& each) { return each.x >= borders[column + 1]; });
    expect_same_column(plain.between(borders[column], borders[column + 1]), {begin, next});
  }
  EXPECT_EQ(next, drawn.end());
}

// The range of y within a random range of x.
void expect_same_extents(const Series& series, const Plain& plain, SeriesDraws& draws) {
  const double low = plain.samples.front().x - 1 + draws.real() * 30;
  const double high = low + draws.real() * 300 - 5;
  const std::optional<Extent> expected = plain.y_extent(low, high);
  const std::optional<Extent> got = series.y_extent(low, high);
  ASSERT_EQ(expected.has_value(), got.has_value());
  if (!expected) return;
  EXPECT_EQ(expected->low, got->low);
  EXPECT_EQ(expected->high, got->high);
}

// Capacities around the sizes of blocks and chunks.
class SeriesOfSize : public testing::TestWithParam<std::size_t> {};

// After each of the first hundred samples and at intervals later, when old samples are dropped.
TEST_P(SeriesOfSize, MatchesAScan) {
  SeriesDraws draws(GetParam());
  Series series(GetParam());
  Plain plain{.samples_max = GetParam()};
  double x = -20;
  for (std::uint32_t i = 0; i < 3 * GetParam() + 40; ++i) {
    const Sample sample = drawn_sample(draws, x);
    ASSERT_TRUE(series.append(sample));
    plain.append(sample);
    if (i > 100 && i % 41 != 0) continue;
    ASSERT_EQ(series.size(), plain.samples.size());
    expect_same_picture(series, plain, draws);
    expect_same_extents(series, plain, draws);
    if (HasFailure()) FAIL() << "after " << i + 1 << " samples";
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    ASSERT_TRUE(same(series.at(i), plain.samples[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SeriesOfSize,
                         testing::Values(1, 2, 15, 16, 17, 31, 100, 255, 256, 257, 1000, 4096));

// draw() clears the samples of an earlier call.
TEST(SeriesTest, IsEmptyAtFirst) {
  Series series(100);
  std::vector<Sample> drawn = {{1, 2}};
  series.draw(std::vector<double>{0, 1, 2}, drawn);
  EXPECT_TRUE(drawn.empty());
  EXPECT_TRUE(series.empty());
  EXPECT_FALSE(series.x_extent());
  EXPECT_FALSE(series.y_extent(-1e9, 1e9));
  EXPECT_FALSE(series.last());
  EXPECT_FALSE(series.nearest(3));
}

// Three places: the first sample has been dropped. A gap counts as a sample, since the crosshair
// must show that there is no value.
TEST(SeriesTest, FindsTheNearestSampleOrGap) {
  Series series(3);
  for (const double x : {1.0, 2.0, 4.0, 8.0}) series.append({x, x == 4 ? kGap : x * 10});
  EXPECT_EQ(series.nearest(-100)->x, 2);
  EXPECT_EQ(series.nearest(2.9)->x, 2);
  EXPECT_EQ(series.nearest(3)->x, 2);  // both neighbours are equally near
  EXPECT_TRUE(std::isnan(series.nearest(5)->y));
  EXPECT_EQ(series.nearest(kEndless)->x, 8);
  EXPECT_FALSE(series.nearest(kGap));
  EXPECT_EQ(series.last()->y, 80);
  EXPECT_EQ(series.x_extent()->low, 2);
}

// A refused sample leaves the series and its revision unchanged.
TEST(SeriesTest, RefusesUnorderedAndNonFinitePlaces) {
  Series series(10);
  EXPECT_TRUE(series.append({5, 1}));
  const std::uint64_t revision = series.revision();
  EXPECT_FALSE(series.append({4.9, 1}));
  EXPECT_FALSE(series.append({kGap, 1}));
  EXPECT_FALSE(series.append({kEndless, 1}));
  EXPECT_EQ(series.revision(), revision);
  EXPECT_TRUE(series.append({5, kEndless}));
  EXPECT_TRUE(std::isnan(series.last()->y));
  EXPECT_GT(series.revision(), revision);
  EXPECT_EQ(series.y_extent(0, 10)->high, 1);
}

// The earlier values of 1000 must not remain in any level of detail.
TEST(SeriesTest, BeginsAnewWhenCleared) {
  Series series(20);
  for (int i = 0; i < 50; ++i) series.append({i * 1.0, 1000});
  const std::uint64_t revision = series.revision();
  series.clear();
  EXPECT_GT(series.revision(), revision);
  EXPECT_TRUE(series.empty());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(series.append({i * 0.5, i * 1.0}));
  EXPECT_EQ(series.size(), 20u);
  EXPECT_EQ(series.y_extent(-1e9, 1e9)->high, 49);
  EXPECT_EQ(series.y_extent(-1e9, 1e9)->low, 30);
}

// No borders, a single one, and unordered, NaN, infinite and equal borders.
TEST(SeriesTest, BordersThatMakeNoSenseDrawNothingWrong) {
  Series series(100);
  for (int i = 0; i < 100; ++i) series.append({i * 1.0, 1});
  std::vector<Sample> drawn;
  for (const std::vector<double>& borders :
       {std::vector<double>{}, {5}, {9, 3, 20}, {kGap, 3, 5}, {-kEndless, kEndless}, {7, 7, 7}}) {
    series.draw(borders, drawn);
    EXPECT_LE(drawn.size(), 102u);
    EXPECT_TRUE(std::ranges::is_sorted(drawn, {}, &Sample::x));
  }
}

}  // namespace
}  // namespace tributary::dashboard
