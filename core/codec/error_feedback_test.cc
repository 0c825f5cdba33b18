// Tests of the residual after encoding, and of measuring a codec with and without error feedback.
#include "core/codec/error_feedback.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/codec/codec_testing.h"
#include "core/codec/measure.h"

namespace tributary {
namespace {

TEST(KeepResidual, IsTheLossOfDecoding) {
  FloatVector residual(4, 7.0f);
  keep_residual(FloatVector{1, 2.5, 3, -4.25}, FloatVector{1, 2, 3, -4}, residual);
  EXPECT_EQ(residual, (FloatVector{0, 0.5, 0, -0.25}));
}

TEST(KeepResidual, EqualBitsLeaveNothingAlsoWhereTheyAreNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  FloatVector residual(2, 7.0f);
  keep_residual(FloatVector{nan, inf}, FloatVector{nan, inf}, residual);
  EXPECT_EQ(residual, (FloatVector{0, 0}));
}

TEST(KeepResidual, MayReplaceTheSentValues) {
  FloatVector sent = {1, 2.5, 3, -4.25};
  keep_residual(sent, FloatVector{1, 2, 3, -4}, sent);
  EXPECT_EQ(sent, (FloatVector{0, 0.5, 0, -0.25}));
}

// A fused multiplication and addition would leave 2^-46.
TEST(AddWeighted, RoundsTheProductBeforeItIsAdded) {
  const float above_1 = 1 + 0x1p-23f;
  FloatVector sum(9, -(1 + 0x1p-22f));
  add_weighted(FloatVector(9, above_1), above_1, sum);
  EXPECT_EQ(sum, FloatVector(9, 0));
}

// Measures a codec with three agents of 10,000 normal values.
MeasureReport measured(std::string_view spec, const MeasureOptions& options) {
  const auto codec = make_codec(spec);
  EXPECT_TRUE(codec.ok());
  const auto all = codec_testing::updates(codec_testing::Pattern::normal, 10'000, 3);
  const SystemClock clock;
  const auto report = measure(**codec, codec_testing::spans(all), options, clock);
  EXPECT_TRUE(report.ok()) << report.status().text();
  return report.ok() ? *report : MeasureReport{};
}

TEST(Measure, CountsEveryByte) {
  const MeasureReport fp32 = measured("fp32", {});
  // The spec "fp32" is padded to 8 bytes.
  const double envelope = kPayloadFixedHeaderBytes + 8;
  EXPECT_DOUBLE_EQ(fp32.ratio_up, 40'000 / (40'000 + envelope));
  EXPECT_DOUBLE_EQ(fp32.bits_per_value_down, 32 * (40'000 + envelope) / 40'000);
  // The exact mean differs only by the rounding of a sum of three float32.
  EXPECT_LT(fp32.nmse, 1e-13);
  const MeasureReport shared = measured("int8_shared", {});
  EXPECT_GT(shared.ratio_up, 3.9);
  EXPECT_NEAR(shared.ratio_down, 2, 0.05);  // sums have 16 bits
}

// Bucket boundaries at multiples of the block keep all blocks, so only the envelopes differ.
TEST(Measure, BucketsDoNotChangeTheError) {
  const MeasureReport whole = measured("int8:block=64", {});
  const MeasureReport cut = measured("int8:block=64", {.bucket_values = 640});
  EXPECT_DOUBLE_EQ(whole.nmse, cut.nmse);
  EXPECT_GT(whole.ratio_up, cut.ratio_up);
}

// With error feedback the error of the summed rounds falls. Without it, rounding to nearest repeats
// the same error in every round.
TEST(Measure, ErrorFeedbackMakesTheSumRight) {
  const MeasureReport once = measured("int8", {});
  const MeasureReport with = measured("int8", {.rounds = 20});
  const MeasureReport without = measured("int8", {.rounds = 20, .error_feedback = false});
  EXPECT_GT(once.nmse, 1e-6);
  EXPECT_LT(with.nmse, once.nmse / 50);
  EXPECT_NEAR(without.nmse, once.nmse, once.nmse * 1e-6);
  EXPECT_GT(with.nmse_last, with.nmse);
}

TEST(Measure, RandomRoundingIsUnbiasedWithoutErrorFeedback) {
  const MeasureReport nearest = measured("int8", {.rounds = 64, .error_feedback = false});
  const MeasureReport random =
      measured("int8:rounding=random", {.rounds = 64, .error_feedback = false});
  EXPECT_GT(random.nmse_last, nearest.nmse_last);
  // The mean over rounds reduces the error of random rounding, but not that of rounding to nearest.
  // The combined sum is rounded as well, so the reduction is less than 64-fold.
  EXPECT_LT(random.nmse, random.nmse_last / 16);
  EXPECT_LT(random.nmse, nearest.nmse / 4);
}

// A matrix of 100 x 99 and a vector of 100 values. Rank 2 of the matrix takes 2 * 199 floats and a
// bound, also if buckets are much smaller.
TEST(Measure, BucketsHoldTheLayersThatACodecNeeds) {
  const LayerMap layers = *LayerMap::make({{"weight", {100, 99}}, {"bias", {100}}});
  for (const std::uint32_t bucket_values : {1u << 20, 1'000u}) {
    const MeasureOptions options = {.bucket_values = bucket_values, .layers = &layers};
    const MeasureReport report = measured("powersgd:rank=2", options);
    EXPECT_NEAR(report.ratio_up, 40'000.0 / (4 * (2 * 199 + 1 + 100)), 4) << bucket_values;
    EXPECT_GT(report.ratio_up, 15) << bucket_values;
  }
  const MeasureReport rows =
      measured("powersgd:rank=2", {.bucket_values = 100, .layers = &layers, .layer_values = 2'000});
  EXPECT_LT(rows.ratio_up, 10);
  EXPECT_GT(rows.ratio_up, 5) << "buckets of whole rows";
}

TEST(Measure, RefusesUnmeasurableInput) {
  const LayerMap layers = *LayerMap::make({{"weight", {11}}});
  const auto codec = codec_testing::codec_of("fp32");
  const SystemClock clock;
  const FloatVector a(10);
  const FloatVector b(11);
  const std::span<const float> unequal[] = {a, b};
  const Status status = measure(*codec, unequal, {}, clock).status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.text().find("update 1"), std::string::npos);
  EXPECT_FALSE(measure(*codec, {}, {}, clock).ok());
  EXPECT_FALSE(measure(*codec, std::span(unequal).first(1), {.layers = &layers}, clock).ok());
  EXPECT_FALSE(measure(*codec, std::span(unequal).first(1), {.rounds = 0}, clock).ok());
}

}  // namespace
}  // namespace tributary
