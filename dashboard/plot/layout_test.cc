// Tests of the geometry of plots as plain functions: axes, legends, bands, crosshair and drags.
#include <gtest/gtest.h>

#include "dashboard/plot/data/axis_map.h"
#include "dashboard/plot/data/crosshair.h"
#include "dashboard/plot/input/drag_frame.h"
#include "dashboard/plot/layers/band_layout.h"
#include "dashboard/plot/layers/legend_layout.h"

namespace tributary::dashboard {
namespace {

TEST(AxisMap, IsInvertible) {
  const AxisMap linear({10, 20}, 100, 300, false);
  EXPECT_EQ(linear.pixel(10), 100);
  EXPECT_EQ(linear.pixel(20), 300);
  EXPECT_EQ(linear.value(200), 15);
  const AxisMap log({1, 1000}, 300, 0, true);
  EXPECT_DOUBLE_EQ(log.pixel(10), 200);
  EXPECT_NEAR(log.value(100), 100, 1e-9);
  EXPECT_TRUE(std::isnan(log.pixel(0)));
  EXPECT_TRUE(std::isnan(log.pixel(-1)));
}

// Wall times are large numbers; the map must still resolve milliseconds.
TEST(AxisMap, DistinguishesMillisecondsOfToday) {
  const AxisMap map({1795391400, 1795391401}, 0, 1000, false);
  EXPECT_NEAR(map.pixel(1795391400.25), 250, 1e-3);
}

TEST(LegendLayout, FillsRowsAndCountsTheRest) {
  const std::vector<double> widths(10, 30);
  const LegendLayout all = lay_out_legend(widths, 20, {0, 5, 100, 0}, 10, 4);
  EXPECT_EQ(all.entries.size(), 10U);
  EXPECT_EQ(all.height, 40);
  EXPECT_TRUE(all.more.isNull());
  const LegendLayout some = lay_out_legend(widths, 20, {0, 5, 100, 0}, 10, 2);
  EXPECT_EQ(some.entries.size(), 5U);  // three, then two and the note in place of the third
  EXPECT_EQ(some.more, QRectF(60, 15, 40, 10));
  EXPECT_EQ(some.height, 20);
}

TEST(LegendLayout, NothingOverlapsOrLeavesTheArea) {
  const std::vector<double> widths = {40, 300, 10, 55, 70, 20, 99, 1};
  for (const double width : {15.0, 60.0, 100.0, 500.0}) {
    const QRectF area(8, 0, width, 0);
    const LegendLayout layout = lay_out_legend(widths, 12, area, 10, 3);
    std::vector<QRectF> rects = layout.entries;
    if (!layout.more.isNull()) rects.push_back(layout.more);
    for (std::size_t i = 0; i < rects.size(); ++i) {
      EXPECT_LE(rects[i].right(), area.right() + 1e-9);
      EXPECT_LE(rects[i].bottom(), layout.height);
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(rects[i].intersects(rects[j]));
    }
  }
}

TEST(BandRects, AreClippedToTheStrip) {
  const std::vector<Stretch> stretches = {
      {-5, -1, "gone"}, {-1, 2, "a"}, {2, 50, "b"}, {60, 70, "c"}};
  const AxisMap x({0, 10}, 100, 200, false);
  const auto rects = band_rects(stretches, x, {100, 20, 100, 10});
  ASSERT_EQ(rects.size(), 2U);
  EXPECT_EQ(rects[0].stretch, 1U);
  EXPECT_EQ(rects[0].rect, QRectF(100, 20, 20, 10));
  EXPECT_EQ(rects[1].rect, QRectF(120, 20, 80, 10));
}

// A hundred thousand stretches give at most one rectangle per pixel.
TEST(BandRects, AreNoMoreThanPixelsAndKeepTheLongest) {
  std::vector<Stretch> stretches;
  for (int i = 0; i < 100000; ++i) stretches.push_back({i / 1e3, (i + 1) / 1e3, "short"});
  stretches.push_back({100, 200, "long"});
  const AxisMap x({0, 200}, 0, 400, false);
  const auto rects = band_rects(stretches, x, {0, 0, 400, 10});
  EXPECT_LE(rects.size(), 401U);
  EXPECT_EQ(rects.back().stretch, stretches.size() - 1);
}

TEST(BandRects, ComeInFromTheLeftOfALogAxis) {
  const std::vector<Stretch> stretches = {{0, 10, "from the beginning"}};
  const auto rects = band_rects(stretches, AxisMap({1, 100}, 0, 200, true), {0, 0, 200, 10});
  ASSERT_EQ(rects.size(), 1U);
  EXPECT_EQ(rects[0].rect, QRectF(0, 0, 100, 10));
}

TEST(Crosshair, FindsTheNearestOfEveryCurveWithinReach) {
  auto dense = std::make_shared<Series>(100);
  for (int i = 0; i < 50; ++i) dense->append({double(i), double(i * i)});
  auto gap = std::make_shared<Series>(100);
  gap->append({10, std::nan("")});
  auto far = std::make_shared<Series>(100);
  far->append({40, 1});
  auto flat = std::make_shared<Series>(100);
  for (int i = 0; i < 50; ++i) flat->append({double(i), 7});
  const std::vector<PlotCurve> curves = {{.key = "dense", .series = dense},
                                         {.key = "gap", .series = gap},
                                         {.key = "far", .series = far},
                                         {.key = "empty", .series = std::make_shared<Series>(1)},
                                         {.key = "none"},
                                         {.key = "upon", .series = dense, .own = flat}};
  const auto values = values_near(curves, 10.4, 2);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0].sample.y, 100);
  EXPECT_EQ(values[0].displayed, 100);
  EXPECT_EQ(values[1].key, "gap");
  EXPECT_TRUE(std::isnan(values[1].sample.y));
  EXPECT_EQ(values[2].sample.y, 100) << "where it is drawn";
  EXPECT_EQ(values[2].displayed, 7) << "what it is";
}

TEST(DragFrame, FollowsADragAlongOneAxis) {
  const QRectF data(0, 0, 400, 200);
  const DragFrame along_x = drag_frame({10, 100}, {200, 105}, data);
  EXPECT_TRUE(along_x.x && !along_x.y);
  EXPECT_EQ(along_x.rect, QRectF(10, 0, 190, 200));
  const DragFrame along_y = drag_frame({10, 100}, {13, 20}, data);
  EXPECT_TRUE(!along_y.x && along_y.y);
  EXPECT_EQ(along_y.rect, QRectF(0, 20, 400, 80));
  const DragFrame both = drag_frame({300, 100}, {900, 20}, data);
  EXPECT_TRUE(both.x && both.y);
  EXPECT_EQ(both.rect, QRectF(300, 20, 100, 80));
}

}  // namespace
}  // namespace tributary::dashboard
