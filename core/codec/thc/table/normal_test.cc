// Tests of the functions of the normal distribution that define tables of THC. They must give the
// same bits on every machine.
#include "core/codec/thc/table/normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tributary::thc {
namespace {

// The C library is the reference here. It cannot be used where agents must agree on bits.
TEST(Normal, AgreesWithTheCLibrary) {
  for (double x = 0; x < 8; x += 0.0371) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(normal_density(x) / density, 1, 1e-14) << x;
    EXPECT_NEAR(normal_tail(x) / (0.5 * std::erfc(x / std::numbers::sqrt2)), 1, 1e-13) << x;
    if (x == 0) continue;
    const double mass = 0.5 * std::erf(x / std::numbers::sqrt2);
    EXPECT_NEAR(normal_centre_mass(x) / mass, 1, 1e-14) << x;
    EXPECT_EQ(normal_centre_mass(-x), -normal_centre_mass(x));
    EXPECT_EQ(normal_density(-x), normal_density(x));
  }
}

// The reference values are published quantiles of the normal distribution.
TEST(Normal, ThresholdsLeaveTheirShareOutside) {
  EXPECT_NEAR(normal_threshold(1.0 / 32), 2.15387469406, 1e-11);
  EXPECT_NEAR(normal_threshold(0.5), 0.674489750196, 1e-11);
  for (double p = 0.9; p > 1e-15; p *= 0.37) {
    EXPECT_NEAR(2 * normal_tail(normal_threshold(p)) / p, 1, 1e-12) << p;
  }
}

// Exact bits, because agents on all machines must compute the same values.
TEST(Normal, GivesTheseBitsEverywhere) {
  EXPECT_EQ(normal_density(1.25), 0x1.7610b9431f0c8p-3);
  EXPECT_EQ(normal_tail(3.5), 0x1.e7dbc92b77dd6p-13);
  EXPECT_EQ(normal_threshold(1.0 / 256), 0x1.715c7c1c88ccbp+1);
}

}  // namespace
}  // namespace tributary::thc
