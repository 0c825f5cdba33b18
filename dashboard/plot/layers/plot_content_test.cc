// Tests of the range of a plot's content, and of its legend.
#include "dashboard/plot/layers/plot_content.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "dashboard/plot/data/name_colours.h"

namespace tributary::dashboard {
namespace {

std::shared_ptr<Series> series_with(const std::vector<Sample>& samples) {
  auto series = std::make_shared<Series>(100);
  for (const Sample& sample : samples) series->append(sample);
  return series;
}

const auto kAll = [](const QString&) { return true; };

TEST(PlotContent, CoversAllKindsOfContent) {
  EXPECT_FALSE(x_extent({}).has_value());
  PlotContent content;
  content.curves = {{.key = "empty", .series = std::make_shared<Series>(1)}, {.key = "none"}};
  EXPECT_FALSE(x_extent(content).has_value());
  content.curves.push_back({.key = "a", .series = series_with({{10, 1}, {20, 1}})});
  EXPECT_EQ(x_extent(content)->low, 10);
  EXPECT_EQ(x_extent(content)->high, 20);
  content.curves.back().high = series_with({{5, 2}});
  EXPECT_EQ(x_extent(content)->low, 5);
  content.bars = {{.key = "b", .bars = {{2, 3, 1}}}};
  EXPECT_EQ(x_extent(content)->low, 2);
  content.bands = {{.name = "c", .stretches = {{15, 40, "int8"}}}};
  EXPECT_EQ(x_extent(content)->high, 40);
  content.rows = {{.name = "d", .spans = {{1, 50, "wire"}}, .moments = {{60, "retry"}}}};
  EXPECT_EQ(x_extent(content)->low, 1);
  EXPECT_EQ(x_extent(content)->high, 60);
}

TEST(PlotContent, RevisionGrowsWithEverySeries) {
  auto drawn = series_with({{0, 1}});
  auto raw = series_with({{0, 1}});
  const PlotContent content = {.curves = {{.key = "a", .series = drawn, .raw = raw}}};
  const auto first = revision(content);
  drawn->append({1, 1});
  const auto second = revision(content);
  EXPECT_GT(second, first);
  raw->append({1, 1});
  EXPECT_GT(revision(content), second);
}

// Only visible curves within the visible x range determine the y range.
TEST(FittedY, HasAMarginAroundVisibleValues) {
  const PlotContent content = {
      .curves = {{.key = "a", .series = series_with({{0, 0}, {1, 10}, {2, 90}})},
                 {.key = "b", .series = series_with({{0, 50}, {1, 50}})}}};
  const Extent both = fitted_y(content, {.x = {0, 1}}, kAll);
  EXPECT_DOUBLE_EQ(both.low, -2.5);
  EXPECT_DOUBLE_EQ(both.high, 52.5);
  const auto only_a = [](const QString& key) { return key == "a"; };
  EXPECT_DOUBLE_EQ(fitted_y(content, {.x = {0, 1}}, only_a).high, 10.5);
  EXPECT_EQ(fitted_y(content, {.x = {0, 1}, .from_zero = true}, only_a).low, 0);
}

// A range of equal values gets a height.
TEST(FittedY, EqualValuesHaveAMarginToo) {
  const PlotContent zeros = {.curves = {{.key = "a", .series = series_with({{0, 0}, {1, 0}})}}};
  EXPECT_EQ(fitted_y(zeros, {.x = {0, 1}}, kAll).high, 1);
  const PlotContent nothing = {};
  EXPECT_GT(fitted_y(nothing, {.x = {0, 1}}, kAll).high, 1);
}

TEST(FittedY, ALogRangeBeginsAtTheLowestValueAboveZero) {
  const PlotContent content = {
      .curves = {{.key = "a", .series = series_with({{0, -1}, {1, 0}, {2, 0.01}, {3, 100}})}}};
  const Extent range = fitted_y(content, {.x = {0, 3}, .log = true}, kAll);
  EXPECT_GT(range.low, 0);
  EXPECT_LT(range.low, 0.01);
  EXPECT_GT(range.high, 100);
  const PlotContent below = {.curves = {{.key = "a", .series = series_with({{0, -1}, {1, -2}})}}};
  EXPECT_GT(fitted_y(below, {.x = {0, 1}, .log = true}, kAll).low, 0);
}

// Bars start at 0, and each Gantt row has height 1.
TEST(FittedY, BarsStandOnZeroAndRowsHaveOneEach) {
  const PlotContent bars = {.bars = {{.key = "a", .bars = {{0, 1, 0.25}, {1, 2, 0.75}}}}};
  EXPECT_EQ(fitted_y(bars, {.x = {0, 2}}, kAll).low, 0);
  EXPECT_GT(fitted_y(bars, {.x = {0, 2}}, kAll).high, 0.75);
  const PlotContent rows = {.rows = {{.name = "a"}, {.name = "b"}, {.name = "c"}}};
  EXPECT_EQ(fitted_y(rows, {.x = {0, 2}, .log = true}, kAll).high, 3);
}

TEST(LegendEntries, NameEachKindOfStretchOnce) {
  PlotContent content = {.curves = {{.key = "loss", .name = "Loss"}},
                         .bands = {{.stretches = {{0, 1, "int8"}, {1, 2, "thc"}, {2, 3, "int8"}}}},
                         .rows = {{.name = "agent", .spans = {{0, 1, "wire"}, {1, 2, "thc"}}}}};
  const auto keys = [&](bool spans) {
    QString all;
    for (const LegendEntry& entry : legend_entries(content, spans)) all += entry.key + ' ';
    return all;
  };
  EXPECT_EQ(keys(true), "loss int8 thc wire ");
  EXPECT_EQ(keys(false), "loss int8 thc ");
  EXPECT_EQ(legend_entries(content, true).front().name, "Loss");
  for (int i = 0; i < 20; ++i) {
    content.bands[0].stretches.push_back({3.0 + i, 4.0 + i, QString::number(i)});
  }
  EXPECT_EQ(keys(true), "loss ") << "so many are no kinds";
}

TEST(LookUpColours, GivesEveryKeyTheSlotOfItsColour) {
  const PlotContent content = {
      .curves = {{.key = "a", .colour_key = "run"}, {.key = "b", .colour_key = "run"}},
      .bands = {{.stretches = {{.label = "int8", .named = true}, {.label = "outage"}}}},
      .bars = {{.key = "c"}}};
  ColourSlots colours;
  std::map<QString, std::size_t> slots_of_keys;
  look_up_colours(content, colours, slots_of_keys);
  EXPECT_EQ(slots_of_keys.at("a"), slots_of_keys.at("b"));
  EXPECT_NE(slots_of_keys.at("a"), slots_of_keys.at("c"));
  EXPECT_EQ(slots_of_keys.at("c"), colours.slot_of("c"));
  EXPECT_EQ(slots_of_keys.at("outage"), colours.slot_of("outage"));
  EXPECT_GE(slots_of_keys.at("int8"), kNameSlotsBegin) << "a name has the slot of its name";
}

}  // namespace
}  // namespace tributary::dashboard
