// Tests of rounding single values. The compiler's own conversion is the reference for halves;
// inputs are near every case of the rounding.
#include "core/codec/quantize/elements.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <vector>

#include "core/codec/quantize/kernels.h"

namespace tributary::quantize {
namespace {

// float32 patterns near every case of the rounding, and samples of all exponents.
std::vector<float> interesting_floats() {
  std::vector<float> values;
  // A step that is not a power of two, so that all mantissa bits vary.
  for (std::uint64_t bits = 0; bits < 0x7f800000u; bits += 0x1003) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (std::uint32_t half = 0; half <= 0x7c00; ++half) {
    const float exact = float_of_half(static_cast<std::uint16_t>(half));
    const float next = float_of_half(static_cast<std::uint16_t>(half + 1));
    // Every half, every tie between two halves, and the floats next to them.
    for (const float x : {exact, (exact + next) / 2}) {
      const auto bits = std::bit_cast<std::uint32_t>(x);
      values.push_back(x);
      values.push_back(std::bit_cast<float>(bits + 1));
      if (bits > 0) values.push_back(std::bit_cast<float>(bits - 1));
    }
  }
  std::erase_if(values, [](float x) { return !std::isfinite(x); });
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

// g++ 12 has _Float16 on x86, and on Arm only Arm's own __fp16.
#if defined(__ARM_FP16_FORMAT_IEEE) || defined(__FLT16_MANT_DIG__)
#ifdef __ARM_FP16_FORMAT_IEEE
using CompilersHalf = __fp16;
#else
using CompilersHalf = _Float16;
#endif

TEST(Half, RoundsAsTheCompilerDoesAndSaturates) {
  for (const float x : interesting_floats()) {
    const auto oracle = std::bit_cast<std::uint16_t>(static_cast<CompilersHalf>(x));
    // The compiler rounds large values to infinity; half_of() saturates instead.
    const bool overflowed = (oracle & 0x7fffu) == 0x7c00u;
    const auto expected = static_cast<std::uint16_t>(overflowed ? oracle - 1 : oracle);
    ASSERT_EQ(half_of(x), expected) << x;
  }
}

TEST(Half, EveryPatternDecodesAsInTheCompiler) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    if ((half & 0x7fffu) >= 0x7c00u) continue;
    const auto pattern = static_cast<std::uint16_t>(half);
    ASSERT_EQ(float_of_half(pattern), static_cast<float>(std::bit_cast<CompilersHalf>(pattern)));
    ASSERT_EQ(half_of(float_of_half(pattern)), pattern);
  }
}
#endif

TEST(Bfloat, TakesTheNearerNeighbourAndTheEvenOneOfTwo) {
  for (const float x : interesting_floats()) {
    const std::uint16_t got = bfloat_of(x);
    const float back = float_of_bfloat(got);
    ASSERT_TRUE(std::isfinite(back)) << x;
    // Above the largest bfloat16.
    if (std::abs(x) > 0x1.fep127f) {
      ASSERT_EQ(got & 0x7fffu, 0x7f7fu) << x;
      continue;
    }
    const auto down = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
    const double below = static_cast<double>(float_of_bfloat(down));
    const double above = static_cast<double>(float_of_bfloat(static_cast<std::uint16_t>(down + 1)));
    const double exact = static_cast<double>(x);
    const double nearest = std::min(std::abs(exact - below), std::abs(exact - above));
    ASSERT_EQ(std::abs(exact - static_cast<double>(back)), nearest) << x;
    const bool tie = std::abs(exact - below) == std::abs(exact - above);
    ASSERT_TRUE(!tie || (got & 1u) == 0) << x;
  }
}

TEST(Levels, ErrorStaysWithinHalfAStep) {
  for (const float largest : {1.0f, 0.3f, 1e-25f, 1e30f, FLT_MAX / 4}) {
    const BlockScale scale = block_scale(largest);
    for (int i = -1000; i <= 1000; ++i) {
      const float x = largest * (static_cast<float>(i) / 1000.0f);
      const float back = static_cast<float>(nearest_level(x, scale.levels_per_unit)) * scale.step;
      ASSERT_LE(std::abs(static_cast<double>(back) - static_cast<double>(x)),
                static_cast<double>(scale.step) * 0.50001)
          << x << " of " << largest;
    }
    EXPECT_EQ(nearest_level(largest, scale.levels_per_unit), 127);
    EXPECT_EQ(nearest_level(-largest, scale.levels_per_unit), -127);
  }
}

// A block of zeros, a block below kScaleMin, and the largest possible scale.
TEST(Levels, ExtremeScalesStayFinite) {
  EXPECT_EQ(block_scale(0.0f).step, 0.0f);
  EXPECT_EQ(block_scale(FLT_MIN).step, 0.0f);
  const BlockScale largest = block_scale(FLT_MAX);
  EXPECT_TRUE(std::isfinite(127.0f * largest.step));
  EXPECT_EQ(nearest_level(FLT_MAX, largest.levels_per_unit), 127);
}

TEST(Levels, RandomRoundingIsUnbiased) {
  const BlockScale scale = block_scale(1.0f);
  const StreamKey key = stream_key({.job_seed = 11, .purpose = DrawPurpose::rounding, .agent = 0});
  constexpr std::uint32_t kDraws = 100'000;
  for (const float x : {0.0f, 0.3f / 127, 0.5f / 127, 0.77f, -0.123f, 1.0f, -1.0f}) {
    double sum = 0;
    for (std::uint32_t i = 0; i < kDraws; ++i) {
      sum += random_level(x, scale.levels_per_unit, random_bits(key, i));
    }
    // The deviation of a level is at most that of a Bernoulli variable over one step, 0.5.
    EXPECT_NEAR(sum / kDraws, static_cast<double>(x) * 127, 5 * 0.5 / std::sqrt(kDraws)) << x;
  }
}

}  // namespace
}  // namespace tributary::quantize
