// Tests of the colours of curves: contrast, and distances for people without red or green cones.
#include "dashboard/plot/data/palette.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tributary::dashboard {
namespace {

// Simulates the lack of one kind of cone, after Viénot, Brettel and Mollon (1999), in linear RGB.
using Cones = std::array<std::array<double, 3>, 3>;
constexpr Cones kProtan = {{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}};
constexpr Cones kDeutan = {{{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}};

double distance_seen(const QColor& a, const QColor& b, const Cones& cones) {
  const auto linear = [](double v) { return std::pow(v, 2.2); };
  const std::array<double, 3> from = {linear(a.redF()), linear(a.greenF()), linear(a.blueF())};
  const std::array<double, 3> to = {linear(b.redF()), linear(b.greenF()), linear(b.blueF())};
  double sum = 0;
  for (const auto& row : cones) {
    double seen_from = 0;
    double seen_to = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      seen_from += row[i] * from[i];
      seen_to += row[i] * to[i];
    }
    const double step =
        std::pow(std::max(0.0, seen_from), 1 / 2.2) - std::pow(std::max(0.0, seen_to), 1 / 2.2);
    sum += step * step;
  }
  return std::sqrt(sum);
}

class PlotPalette : public testing::TestWithParam<bool> {};

TEST_P(PlotPalette, ColoursAreReadOnTheGround) {
  const QColor ground = GetParam() ? QColor(24, 26, 30) : QColor(Qt::white);
  for (std::size_t slot = 0; slot < 16; ++slot) {
    EXPECT_GE(contrast(slot_colour(slot, GetParam()), ground), 2.2) << slot;
  }
}

// Two colours must differ for people without red or green cones.
TEST_P(PlotPalette, TheFirstEightAreDistinctWithoutRedOrGreenCones) {
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = a + 1; b < 8; ++b) {
      for (const Cones& cones : {kProtan, kDeutan}) {
        EXPECT_GE(distance_seen(slot_colour(a, GetParam()), slot_colour(b, GetParam()), cones), 0.1)
            << a << " and " << b;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grounds, PlotPalette, testing::Bool());

TEST(ColourSlots, AKeyKeepsItsSlot) {
  ColourSlots given;
  const auto first = given.slot_of("a");
  const auto second = given.slot_of("b");
  EXPECT_NE(first, second);
  for (int i = 0; i < 10000; ++i) given.slot_of(QString::number(i));
  EXPECT_EQ(given.slot_of("a"), first);
  EXPECT_EQ(given.slot_of("b"), second);
  EXPECT_EQ(given.slot_of("beyond the last"), given.slot_of("beyond the last"));
}

TEST(PlotColours, KnowADarkGround) {
  QPalette palette;
  palette.setColor(QPalette::Base, Qt::black);
  palette.setColor(QPalette::Text, Qt::white);
  EXPECT_TRUE(plot_colours(palette).dark);
  palette.setColor(QPalette::Base, Qt::white);
  palette.setColor(QPalette::Text, Qt::black);
  EXPECT_FALSE(plot_colours(palette).dark);
  EXPECT_GE(contrast(plot_colours(palette).faint, Qt::white), 4.5);
}

}  // namespace
}  // namespace tributary::dashboard
