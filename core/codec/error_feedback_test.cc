#include "core/codec/error_feedback.h"

#include <gtest/gtest.h>

#include "core/codec/codec_testing.h"
#include "core/codec/measure.h"

namespace tributary {
namespace {

TEST(ErrorFeedback, ExcludedUpdatesComeBackWhole) {
  ErrorFeedback feedback(4);
  FloatVector update = {1, 2, 3, 4};
  feedback.add_to(0, update);
  feedback.settle_excluded(0, update);
  FloatVector next = {10, 10, 10, 10};
  feedback.add_to(0, next);
  EXPECT_EQ(next, (FloatVector{11, 12, 13, 14}));
}

TEST(ErrorFeedback, CommittedUpdatesLeaveTheirErrorBehind) {
  ErrorFeedback feedback(4);
  FloatVector update = {1, 2.5, 3, -4.25};
  feedback.add_to(0, update);
  feedback.settle_committed(0, update, FloatVector{1, 2, 3, -4});
  EXPECT_EQ(FloatVector(feedback.values().begin(), feedback.values().end()),
            (FloatVector{0, 0.5, 0, -0.25}));
}

TEST(ErrorFeedback, ResidualsBelongToCoordinatesNotToBuckets) {
  ErrorFeedback feedback(6);
  FloatVector left = {1, 2, 3, 4};
  FloatVector right = {5, 6};
  feedback.settle_excluded(0, left);
  feedback.settle_excluded(4, right);
  // The next round cuts elsewhere.
  FloatVector head = {0, 0};
  FloatVector tail = {0, 0, 0, 0};
  feedback.add_to(0, head);
  feedback.add_to(2, tail);
  EXPECT_EQ(head, (FloatVector{1, 2}));
  EXPECT_EQ(tail, (FloatVector{3, 4, 5, 6}));
}

TEST(ErrorFeedback, ALearningRateRescalesWhatWasHeldBack) {
  ErrorFeedback feedback(2);
  feedback.settle_excluded(0, FloatVector{3, -8});
  feedback.rescale(0.1f / 0.4f);
  EXPECT_FLOAT_EQ(feedback.values()[0], 0.75f);
  EXPECT_FLOAT_EQ(feedback.values()[1], -2.0f);
}

// An agent that is left out of every second commit still gets its whole update across.
TEST(ErrorFeedback, AStragglerLosesNothing) {
  const auto codec = codec_testing::codec_of("int8:block=64");
  const FloatVector update = codec_testing::update(codec_testing::Pattern::normal, 200, 0);
  ErrorFeedback feedback(200);
  std::vector<double> committed(200, 0.0);
  constexpr std::uint64_t kRounds = 10;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    FloatVector sent = update;
    feedback.add_to(0, sent);
    Bytes payload;
    ASSERT_TRUE(codec->make_encoder(200)->encode({.round = {.round = round}}, sent, payload).ok());
    if (round % 2 == 1) {
      feedback.settle_excluded(0, sent);
      continue;
    }
    FloatVector decoded(200);
    ASSERT_TRUE(codec->decode({.round = {.round = round}}, payload, decoded).ok());
    feedback.settle_committed(0, sent, decoded);
    for (std::size_t i = 0; i < 200; ++i) committed[i] += static_cast<double>(decoded[i]);
  }
  for (std::size_t i = 0; i < 200; ++i) {
    const double truth = kRounds * static_cast<double>(update[i]);
    const double held_back = static_cast<double>(feedback.values()[i]);
    EXPECT_NEAR(committed[i] + held_back, truth, 1e-5);
  }
}

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
  const double envelope = kPayloadFixedHeaderBytes + 8;
  EXPECT_DOUBLE_EQ(fp32.ratio_up, 40'000 / (40'000 + envelope));
  EXPECT_DOUBLE_EQ(fp32.bits_per_value_down, 32 * (40'000 + envelope) / 40'000);
  // Of three float32 summed in float32.
  EXPECT_LT(fp32.nmse, 1e-13);
  const MeasureReport shared = measured("int8_shared", {});
  EXPECT_GT(shared.ratio_up, 3.9);
  EXPECT_NEAR(shared.ratio_down, 2, 0.05);  // sums take 16 bits
}

TEST(Measure, BucketsDoNotChangeWhatIsLost) {
  const MeasureReport whole = measured("int8:block=64", {});
  const MeasureReport cut = measured("int8:block=64", {.bucket_values = 640});
  EXPECT_DOUBLE_EQ(whole.nmse, cut.nmse);
  EXPECT_GT(whole.ratio_up, cut.ratio_up);
}

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
  // Averaged over rounds, one error shrinks and the other stays. The sum that goes back down is
  // rounded as well, so the shrinking is not quite 64-fold.
  EXPECT_LT(random.nmse, random.nmse_last / 16);
  EXPECT_LT(random.nmse, nearest.nmse / 4);
}

TEST(Measure, RefusesWhatCannotBeMeasured) {
  const auto codec = codec_testing::codec_of("fp32");
  const SystemClock clock;
  const FloatVector a(10);
  const FloatVector b(11);
  const std::span<const float> unequal[] = {a, b};
  const Status status = measure(*codec, unequal, {}, clock).status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.text().find("update 1"), std::string::npos);
  EXPECT_FALSE(measure(*codec, {}, {}, clock).ok());
  EXPECT_FALSE(measure(*codec, std::span(unequal).first(1), {.rounds = 0}, clock).ok());
}

}  // namespace
}  // namespace tributary
