// Tests of thinning out curves without losing spikes and gaps.
#include "cli/report/svg/points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tributary::report {
namespace {

Points wave(std::size_t count) {
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back({static_cast<double>(i), std::sin(static_cast<double>(i) * 0.01)});
  }
  return points;
}

bool has_gap(const Points& points) {
  return std::ranges::any_of(points, [](const Point& point) { return std::isnan(point.y); });
}

TEST(Decimated, KeepsSpikesGapsAndEnds) {
  Points points = wave(100'000);
  points[41'234].y = 7;
  points[77'777].y = -9;
  points[60'000].y = kGap;
  const Points thin = decimated(points, 2000);
  EXPECT_LE(thin.size(), 2000u);
  EXPECT_GT(thin.size(), 1000u);
  EXPECT_EQ(thin.front().x, 0);
  EXPECT_EQ(thin.back().x, 99'999);
  EXPECT_TRUE(std::ranges::is_sorted(thin, {}, &Point::x));
  const auto there = [&](double x) { return std::ranges::find(thin, x, &Point::x) != thin.end(); };
  EXPECT_TRUE(there(41'234));
  EXPECT_TRUE(there(77'777));
  EXPECT_TRUE(there(60'000)) << "the gap";
  EXPECT_EQ(decimated(wave(50), 2000).size(), 50u);
}

TEST(Decimated, GapsAloneBecomeOneGap) {
  const Points thin = decimated(Points(5000, Point{1, kGap}), 100);
  EXPECT_LE(thin.size(), 100u);
  EXPECT_TRUE(std::ranges::all_of(thin, [](const Point& p) { return std::isnan(p.y); }));
}

TEST(WithGaps, NothingIsDrawnOverAnOutage) {
  const Points points = {{0, 1}, {10, 2}, {20, 3}, {90, 4}, {100, 5}};
  EXPECT_EQ(usual_distance(points), 10);
  const Points cut = with_gaps(points, 50);
  ASSERT_EQ(cut.size(), 6u);
  EXPECT_TRUE(std::isnan(cut[3].y));
  EXPECT_FALSE(has_gap(with_gaps(points, 70)));
}

TEST(Envelope, ManyLinesBecomeTheirRange) {
  std::vector<Points> lines;
  for (int line = 0; line < 9; ++line) {
    Points points;
    for (int x = 1; x <= 5; ++x) points.push_back({static_cast<double>(x), line * 10.0 + x});
    lines.push_back(points);
  }
  const Envelope range = envelope(lines, 100);
  ASSERT_EQ(range.median.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const double x = static_cast<double>(i) + 1;
    EXPECT_EQ(range.median[i].x, x);
    EXPECT_EQ(range.lowest[i].y, x);
    EXPECT_EQ(range.median[i].y, 40 + x);
    EXPECT_EQ(range.highest[i].y, 80 + x);
  }
  EXPECT_LE(envelope(lines, 2).median.size(), 2u);
  EXPECT_TRUE(envelope({}, 10).median.empty());
  EXPECT_TRUE(has_gap(envelope({{{0, 1}, {1, kGap}}}, 10).median));
}

TEST(Averaged, AStretchWithAGapIsOne) {
  Points points = {{1, 10}, {2, 20}, {3, kGap}, {4, 40}};
  const Points means = averaged(points, 2);
  ASSERT_EQ(means.size(), 2u);
  EXPECT_EQ(means[0].x, 1.5);
  EXPECT_EQ(means[0].y, 15);
  EXPECT_TRUE(std::isnan(means[1].y));
}

}  // namespace
}  // namespace tributary::report
