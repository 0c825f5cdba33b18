// The gain that follows from norms, compared with that of an exchange.
#include "core/codec/thc/gain/rate_gain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/codec/codec_testing.h"

namespace tributary::thc {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using codec_testing::spans;

// Blocks of normal values whose deviations span three orders of magnitude; the last is not full.
FloatVector uneven(std::size_t values) {
  FloatVector update = codec_testing::update(Pattern::normal, values, 0);
  for (std::size_t i = 0; i < values; ++i) {
    update[i] *= std::ldexp(1.0f, -static_cast<int>(i / 256 * 7 % 11));
  }
  return update;
}

// Four agents with equal updates. Independent rounding has the expected error; correlated rounding
// has less.
double exchanged_gain(const FloatVector& update, double rate) {
  const auto codec = codec_of(fmt::format("thc:rate={},rounding=independent", rate));
  const SystemClock clock;
  const auto values = static_cast<std::uint32_t>(update.size());
  const std::vector<FloatVector> all(4, update);
  LocalExchange exchange(*codec, values, 4, false, clock);
  FloatVector sum(values);
  EXPECT_TRUE(exchange.play({.round = 3}, {}, spans(all), sum).ok());
  double error = 0;
  double energy = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double off = static_cast<double>(sum[i]) / 4 - static_cast<double>(update[i]);
    error += off * off;
    energy += static_cast<double>(update[i]) * static_cast<double>(update[i]);
  }
  return 1 - error / energy;
}

TEST(RateGain, IsThatOfAnExchange) {
  const FloatVector update = uneven(300 * 256 + 100);
  const auto gains = gains_of_rates({}, update, 4, kGainRates);
  ASSERT_TRUE(gains.ok()) << gains.status().text();
  ASSERT_EQ(gains->size(), std::size(kGainRates));
  for (std::size_t i = 0; i < gains->size(); ++i) {
    const double lost = 1 - exchanged_gain(update, kGainRates[i]);
    EXPECT_NEAR((1 - (*gains)[i]) / lost, 1, 0.15) << "rate " << kGainRates[i];
  }
  EXPECT_TRUE(std::ranges::is_sorted(*gains));
}

TEST(RateGain, IsBoundedForUnusualUpdates) {
  const auto of = [](const FloatVector& update) {
    const auto gains = gains_of_rates({}, update, 3, kGainRates);
    EXPECT_TRUE(gains.ok());
    return gains.ok() ? *gains : std::vector<double>();
  };
  const std::vector<double> everything(std::size(kGainRates), 1);
  EXPECT_EQ(of({}), everything);
  EXPECT_EQ(of(FloatVector(1000, 0.0f)), everything);
  for (const double gain : of(FloatVector(1000, std::numeric_limits<float>::max()))) {
    EXPECT_GE(gain, 0);
    EXPECT_LE(gain, 1);
  }
}

}  // namespace
}  // namespace tributary::thc
