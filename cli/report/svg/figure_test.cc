// Tests of figures as SVG: places of points, gaps, logarithmic axes and hostile texts.
#include "cli/report/svg/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string_view>

#include "cli/report/svg/well_formed_testing.h"

namespace tributary::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Figure figure_with(LinePanel panel) {
  Figure figure{.name = "f", .title = "title", .description = "what it is", .x_label = "round"};
  figure.panels.emplace_back(std::move(panel));
  return figure;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

// Returns the "d" attribute of the n-th path. Uses a search, because std::regex recurses once per
// character and overflows a sanitizer's stack on long paths.
std::string path_of(const std::string& svg, std::size_t n) {
  std::size_t at = svg.find("<path ");
  for (; n > 0 && at != std::string::npos; --n) at = svg.find("<path ", at + 1);
  if (at == std::string::npos) return "";
  constexpr std::string_view kBefore = " d=\"";
  const std::size_t first = svg.find(kBefore, at) + kBefore.size();
  return svg.substr(first, svg.find('"', first) - first);
}

// Numbers must be drawn at their positions: x from 74 to 946, y from the bottom up.
TEST(Figure, PointsStandWhereTheirNumbersSay) {
  Figure figure = figure_with({.title = "loss",
                               .series = {{.label = "a", .points = {{0, 0}, {5, 1}, {10, 0.5}}}},
                               .height = 100});
  figure.x_first = 0;
  figure.x_last = 10;
  const std::string svg = svg_of(figure, true);
  EXPECT_EQ(xml_complaint(svg), "");
  std::smatch place;
  const std::string path = path_of(svg, 0);
  ASSERT_TRUE(
      std::regex_match(path, place, std::regex("M74 ([0-9.]+)L510 ([0-9.]+)L946 ([0-9.]+)")))
      << path;
  const double bottom = std::stod(place[1]);
  EXPECT_NEAR(bottom - std::stod(place[2]), 100, 0.02);
  EXPECT_NEAR(bottom - std::stod(place[3]), 50, 0.02);
}

TEST(Figure, AGapIsAGap) {
  const std::string svg = svg_of(
      figure_with(
          {.series = {{.label = "a",
                       .points = {{1, 1}, {2, 2}, {3, kGap}, {4, 1}, {5, 2}, {6, kGap}, {7, 3}}}}}),
      false);
  const std::string path = path_of(svg, 0);
  EXPECT_EQ(count(path, "M"), 2u) << path;
  EXPECT_EQ(count(path, "L"), 2u) << path;
  EXPECT_THAT(svg, HasSubstr("s0 line dot")) << "a point between gaps is still seen";
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(Figure, ALogAxisHasDecadesAtEqualDistances) {
  const std::string svg = svg_of(
      figure_with({.unit = Unit::bytes,
                   .series = {{.label = "a", .points = {{1, 1e3}, {2, 1e5}, {3, 1e7}, {4, 0}}}},
                   .log = true,
                   .height = 200}),
      false);
  for (const char* const tick : {">1 kB<", ">10 kB<", ">100 kB<", ">1 MB<", ">10 MB<"}) {
    EXPECT_THAT(svg, HasSubstr(tick));
  }
  std::smatch place;
  const std::string path = path_of(svg, 0);
  ASSERT_TRUE(std::regex_match(
      path, place, std::regex("M[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)L[0-9.]+ ([0-9.]+)")))
      << path << ": what is not above 0 is a gap";
  EXPECT_NEAR(std::stod(place[1]) - std::stod(place[2]), 100, 0.02);
  EXPECT_NEAR(std::stod(place[2]) - std::stod(place[3]), 100, 0.02);
}

TEST(Figure, StackedAreasAddUp) {
  const std::string svg =
      svg_of(figure_with({.series = {{.label = "a", .points = {{1, 1}, {2, 1}}, .colour = 0},
                                     {.label = "b", .points = {{1, 3}, {2, 3}}, .colour = 1}},
                          .stacked = true,
                          .height = 100}),
             false);
  std::smatch place;
  const std::string upper = path_of(svg, 1);  // areas precede lines
  ASSERT_TRUE(std::regex_match(upper, place,
                               std::regex("M74 ([0-9.]+)L946 [0-9.]+L946 ([0-9.]+)L74 [0-9.]+Z")))
      << upper;
  EXPECT_NEAR(std::stod(place[2]) - std::stod(place[1]), 75, 0.02) << "3 of an axis of 4";
}

TEST(Figure, LongLinesAreThinnedOut) {
  Points points;
  for (int i = 0; i < 200'000; ++i) {
    points.push_back({static_cast<double>(i), static_cast<double>(i * 7919 % 1000)});
  }
  const std::string svg = svg_of(figure_with({.series = {{.label = "a", .points = points}}}), true);
  EXPECT_LE(count(path_of(svg, 0), "L"), kLinePointsMax);
  EXPECT_LT(svg.size(), 100'000u);
}

TEST(Figure, TextFromOutsideStaysText) {
  Figure figure = figure_with({.title = "<script>alert(1)</script>",
                               .series = {{.label = "\"&\x01<", .points = {{1, 1}, {2, 2}}}}});
  figure.title = "a < b & \"c\"";
  figure.panels.emplace_back(
      StripPanel{{{.title = "</svg>", .bands = {{1, 2, "<i>", "because > "}}}}});
  figure.marks.push_back({.x = 1.5, .number = "1", .why = "<&>"});
  const std::string svg = svg_of(figure, true);
  EXPECT_EQ(xml_complaint(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("<i>")));
}

TEST(Figure, BandsAreAsLongAsTheyHeldAndManyAreThinnedOut) {
  Figure figure{.title = "t", .x_label = "round"};
  figure.panels.emplace_back(StripPanel{
      {{.title = "codec", .bands = {{0, 25, "fp32", ""}, {25, 100, "thc:bits=4", ""}}}}});
  const std::string svg = svg_of(figure, false);
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="s0 band" x="74" )"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="s1 band" x="292" )"));
  EXPECT_THAT(svg, HasSubstr(R"(width="654")"));

  Strip many{.title = "codec"};
  for (int i = 0; i < 100'000; ++i) {
    many.bands.push_back({i + 0.0, i + 1.0, i % 2 == 0 ? "a" : "b", ""});
  }
  figure.panels = {StripPanel{{many}}};
  EXPECT_LT(svg_of(figure, false).size(), 200'000u);
}

TEST(Figure, AnEmptyFigureShowsAText) {
  const Figure empty = figure_with({.series = {{.label = "a", .points = {{1, kGap}}}}});
  EXPECT_FALSE(has_values(empty));
  EXPECT_THAT(svg_of(empty, false), HasSubstr("no values"));
  EXPECT_EQ(xml_complaint(svg_of(empty, true)), "");
  EXPECT_TRUE(has_values(figure_with({.series = {{.label = "a", .points = {{1, 0}}}}})));
  Figure none{.title = "t"};
  EXPECT_EQ(xml_complaint(svg_of(none, true)), "");
}

TEST(Figure, FollowsTheReadersLightOrDarkAndNeedsNothingElse) {
  const std::string svg =
      svg_of(figure_with({.series = {{.label = "a", .points = {{1, 1}}}}}), true);
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_EQ(count(svg, "http"), 1u) << "the name of the format, and no other address";
  EXPECT_THAT(svg_of(figure_with({}), false), Not(HasSubstr("<style>")));
}

}  // namespace
}  // namespace tributary::report
