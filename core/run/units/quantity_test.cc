// Tests of numbers with units as text.
#include "core/run/units/quantity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tributary {
namespace {

TEST(Quantity, BytesGoByPowersOf1000) {
  EXPECT_EQ(quantity_text(Unit::bytes, 0), "0 B");
  EXPECT_EQ(quantity_text(Unit::bytes, 512), "512 B");
  EXPECT_EQ(quantity_text(Unit::bytes, 1536), "1.54 kB");
  EXPECT_EQ(quantity_text(Unit::bytes, 12.3e6), "12.3 MB");
  EXPECT_EQ(quantity_text(Unit::bytes_per_second, 2e6), "2.00 MB/s");
}

TEST(Quantity, SecondsTakeThePrefixThatReadsBest) {
  EXPECT_EQ(quantity_text(Unit::seconds, 0), "0 s");
  EXPECT_EQ(quantity_text(Unit::seconds, 0.031), "31.0 ms");
  EXPECT_EQ(quantity_text(Unit::seconds, 4e-6), "4.00 µs");
  EXPECT_EQ(quantity_text(Unit::seconds, 2.5), "2.50 s");
  EXPECT_EQ(quantity_text(Unit::seconds, 600), "10.0 min");
  EXPECT_EQ(quantity_text(Unit::seconds, 36000), "10.0 h");
  EXPECT_EQ(quantity_text(Unit::seconds, 864000), "10.0 days");
}

TEST(Quantity, ValuesThatRoundUpToAPrefixUseIt) {
  EXPECT_EQ(quantity_text(Unit::seconds, 0.99996), "1.00 s");
  EXPECT_EQ(quantity_text(Unit::bits_per_second, 999999), "1.00 Mbit/s");
}

TEST(Quantity, SharesArePercent) {
  EXPECT_EQ(quantity_text(Unit::share, 0.974), "97.4 %");
  EXPECT_EQ(quantity_text(Unit::share, 1), "100 %");
}

TEST(Quantity, NonFiniteNumbersHaveNoValue) {
  EXPECT_EQ(quantity_text(Unit::bytes, std::nan("")), "no value");
  EXPECT_EQ(quantity_text(Unit::one, std::numeric_limits<double>::infinity()), "no value");
}

// A negative value that rounds to zero has no minus sign.
TEST(Quantity, NothingHasNoSign) {
  EXPECT_EQ(number_text(-0.0001, 2), "0.00");
  EXPECT_EQ(number_text(-0.5, 1), "-0.5");
}

TEST(Quantity, HasAUnit) {
  EXPECT_EQ(quantity_text(Unit::bytes, 0), "0 B");
  EXPECT_EQ(quantity_text(Unit::bytes, 999), "999 B");
  EXPECT_EQ(quantity_text(Unit::bytes, 1'234'567), "1.23 MB");
  EXPECT_EQ(quantity_text(Unit::share, 0.9731), "97.3 %");
  EXPECT_EQ(quantity_text(Unit::share, 1), "100 %");
  EXPECT_EQ(quantity_text(Unit::seconds, 0.0312), "31.2 ms");
  EXPECT_EQ(quantity_text(Unit::seconds, 90), "90 s");
  EXPECT_EQ(quantity_text(Unit::seconds, 600), "10.0 min");
  EXPECT_EQ(quantity_text(Unit::bits_per_second, 20e6), "20.0 Mbit/s");
  EXPECT_EQ(quantity_text(Unit::count, 1234567), "1234567");
  EXPECT_EQ(quantity_text(Unit::one, 0.123456), "0.1235");
  EXPECT_EQ(quantity_text(Unit::one, 0.0 / 0.0), "no value");
}

TEST(Quantity, ARateFollowsFromTheTimeOfAByte) {
  EXPECT_DOUBLE_EQ(bits_per_second(1e-6), 8e6);
  for (const double unknown : {0.0, -1e-6, std::nan("")}) {
    EXPECT_TRUE(std::isnan(bits_per_second(unknown))) << unknown;
  }
}

TEST(Quantity, WallTimeIsDateAndTimeOfDay) {
  EXPECT_EQ(quantity_text(Unit::wall_time, 1795391400), "2026-11-22 23:50:00");
  EXPECT_EQ(quantity_text(Unit::wall_time, 1795391400, 3600), "2026-11-23 00:50:00");
  EXPECT_EQ(quantity_text(Unit::wall_time, 1e300), "9999-12-31 23:59:59");
}

}  // namespace
}  // namespace tributary
