// Tests of the functions that draw data. They agree with the C library, and their bits are the same
// on every machine.
#include "core/data/portable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace tributary {
namespace {

TEST(PortableMath, AgreesWithTheLibrary) {
  for (int i = -4000; i <= 4000; ++i) {
    const double turns = i / 997.0;
    ASSERT_NEAR(sine_of_turns(turns), std::sin(2 * std::numbers::pi * turns), 1e-12) << turns;
    ASSERT_NEAR(cosine_of_turns(turns), std::cos(2 * std::numbers::pi * turns), 1e-12) << turns;
    const double x = i / 5.7;
    const double exact = std::exp(x);
    ASSERT_NEAR(portable_exp(x), exact, 1e-13 * exact) << x;
    const double positive = std::exp(i / 6.0);
    ASSERT_NEAR(portable_log(positive), std::log(positive),
                1e-13 * std::max(1.0, std::abs(i / 6.0)));
  }
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_NEAR(portable_log(4.9e-324), std::log(4.9e-324), 1e-9);
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-1e9), 0);
}

// The results have the same bits on every machine: the hash was computed on another one.
TEST(PortableMath, KeepsItsBits) {
  std::uint64_t hash = 0;
  const auto add = [&](double value) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  for (int i = 1; i <= 1000; ++i) {
    add(sine_of_turns(i / 77.0));
    add(cosine_of_turns(i / 77.0));
    add(portable_exp((i - 500) / 7.0));
    add(portable_log(i / 7.0));
  }
  EXPECT_EQ(hash, 15053316715285253381u);
}

}  // namespace
}  // namespace tributary
