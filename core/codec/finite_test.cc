// Tests of the limit that keeps sums of many agents finite.
#include "core/codec/finite.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "core/base/bytes/bytes.h"

namespace tributary {
namespace {

TEST(Finite, MagnitudesAreComparedWithTheLimit) {
  for (const std::size_t size : {1u, 7u, 64u, 1000u}) {
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      FloatVector values(size, -2.5f);
      const auto with = [&](float value) {
        values[at] = value;
        return within_magnitude(values, 3.0f);
      };
      EXPECT_TRUE(with(3.0f));
      EXPECT_TRUE(with(-3.0f));
      EXPECT_TRUE(with(-0.0f));
      EXPECT_TRUE(with(std::numeric_limits<float>::denorm_min()));
      EXPECT_FALSE(with(std::nextafter(3.0f, 4.0f)));
      EXPECT_FALSE(with(-std::nextafter(3.0f, 4.0f)));
      EXPECT_FALSE(with(INFINITY));
      EXPECT_FALSE(with(-INFINITY));
      EXPECT_FALSE(with(NAN));
      EXPECT_FALSE(with(-NAN));
    }
  }
  EXPECT_TRUE(within_magnitude({}, 0));
}

TEST(Finite, ASumOfTheLargestAddendsOfAllAgentsIsFinite) {
  for (const std::uint32_t agents : {0u, 1u, 2u, 3u, 7u, 1000u, 16'384u}) {
    float sum = 0;
    for (std::uint32_t i = 0; i < std::max(agents, 1u); ++i) sum += addend_max(agents);
    EXPECT_TRUE(std::isfinite(sum)) << agents;
    EXPECT_TRUE(std::isfinite(addend_max(agents, agents) + addend_max(agents, agents / 2)));
  }
  EXPECT_GE(addend_max(4, 2), addend_max(4));
}

TEST(Finite, WithoutTheFlagEveryFiniteNumberIsAdded) {
  EXPECT_EQ(addend_max(StageCall{.round = {.agents = 4}}, 1), FLT_MAX);
  EXPECT_EQ(addend_max(StageCall{.round = {.agents = 4}, .finite_only = true}, 1), addend_max(4));
}

}  // namespace
}  // namespace tributary
