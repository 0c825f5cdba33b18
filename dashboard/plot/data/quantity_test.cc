#include "dashboard/plot/data/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace tributary::dashboard {
namespace {

std::string said(Unit unit, double value) { return text_of(unit, value).toStdString(); }

TEST(PlotQuantity, BytesGoByPowersOf1024) {
  EXPECT_EQ(said(Unit::bytes, 0), "0 B");
  EXPECT_EQ(said(Unit::bytes, 512), "512 B");
  EXPECT_EQ(said(Unit::bytes, 1536), "1.50 KiB");
  EXPECT_EQ(said(Unit::bytes, 12.3 * 1048576), "12.3 MiB");
  EXPECT_EQ(said(Unit::bytes_per_second, 2097152), "2.00 MiB/s");
}

TEST(PlotQuantity, SecondsTakeThePrefixThatReadsBest) {
  EXPECT_EQ(said(Unit::seconds, 0), "0 s");
  EXPECT_EQ(said(Unit::seconds, 0.031), "31.0 ms");
  EXPECT_EQ(said(Unit::seconds, 4e-6), "4.00 µs");
  EXPECT_EQ(said(Unit::seconds, 2.5), "2.50 s");
  EXPECT_EQ(said(Unit::seconds, 600), "10.0 min");
  EXPECT_EQ(said(Unit::seconds, 36000), "10.0 h");
}

TEST(PlotQuantity, WhatRoundsUpToThePrefixIsWrittenWithIt) {
  EXPECT_EQ(said(Unit::seconds, 0.99996), "1.00 s");
  EXPECT_EQ(said(Unit::bits_per_second, 999999), "1.00 Mbit/s");
}

TEST(PlotQuantity, SharesArePercent) {
  EXPECT_EQ(said(Unit::share, 0.974), "97.4 %");
  EXPECT_EQ(said(Unit::share, 1), "100 %");
}

TEST(PlotQuantity, WhatIsNotFiniteHasNoValue) {
  EXPECT_EQ(said(Unit::bytes, std::nan("")), "no value");
  EXPECT_EQ(said(Unit::one, std::numeric_limits<double>::infinity()), "no value");
}

TEST(PlotQuantity, NothingHasNoSign) {
  EXPECT_EQ(plain_number(-0.0001, 2).toStdString(), "0.00");
  EXPECT_EQ(plain_number(-0.5, 1).toStdString(), "-0.5");
}

}  // namespace
}  // namespace tributary::dashboard
