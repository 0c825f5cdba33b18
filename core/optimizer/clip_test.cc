// Tests of clipping a gradient by its norm and by value.
#include "core/optimizer/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tributary {
namespace {

TEST(ClipByNorm, ScalesLongVectorsOnly) {
  std::vector<float> gradient = {3, 0, -4};
  EXPECT_EQ(clip_by_norm(gradient, 10), 5);
  EXPECT_EQ(gradient, (std::vector<float>{3, 0, -4}));
  EXPECT_EQ(clip_by_norm(gradient, 1), 5);
  EXPECT_NEAR(gradient_norm(gradient), 1, 1e-6);
  EXPECT_NEAR(gradient[0], 0.6, 1e-6);
  EXPECT_NEAR(gradient[2], -0.8, 1e-6);
}

TEST(ClipByNorm, DoesNotOverflowAndKeepsNonFiniteValues) {
  // The norm exceeds float32, but not double.
  std::vector<float> large(100, std::numeric_limits<float>::max());
  clip_by_norm(large, 1);
  EXPECT_NEAR(gradient_norm(large), 1, 1e-5);
  std::vector<float> broken = {1, std::nanf("")};
  EXPECT_TRUE(std::isnan(clip_by_norm(broken, 1)));
  EXPECT_TRUE(std::isnan(broken[1])) << "an error must not be hidden";
}

TEST(ClipByValue, CutsBothEnds) {
  std::vector<float> gradient = {-5, -1, 0.5f, 2, std::nanf("")};
  clip_by_value(gradient, 1);
  EXPECT_EQ(gradient[0], -1);
  EXPECT_EQ(gradient[1], -1);
  EXPECT_EQ(gradient[2], 0.5f);
  EXPECT_EQ(gradient[3], 1);
  EXPECT_TRUE(std::isnan(gradient[4]));
}

}  // namespace
}  // namespace tributary
