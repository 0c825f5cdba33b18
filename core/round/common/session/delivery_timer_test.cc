#include "core/round/common/session/delivery_timer.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr TimeNs kOneMs = 1'000'000;
constexpr TimeNs kRoundTrip = 10 * kOneMs;
constexpr std::uint64_t kSentBytes = 100'000;

TEST(DeliveryTimer, TheRoundTripIsSubtracted) {
  DeliveryTimer timer;
  const auto run = timer.sent(0, kSentBytes, true);
  timer.acknowledged(110 * kOneMs, run, kRoundTrip);
  const std::optional<Delivery> delivery = timer.take();
  ASSERT_TRUE(delivery);
  EXPECT_TRUE(delivery->measures_rate());
  EXPECT_TRUE(delivery->is_large());
  EXPECT_DOUBLE_EQ(delivery->s_per_byte(), 0.1 / 100'000);
  EXPECT_FALSE(timer.take()) << "it is taken once";
}

// The second part waits behind the first, so its time counts from the first.
TEST(DeliveryTimer, PartsThatFollowOneAnotherAreOneRun) {
  DeliveryTimer timer;
  const auto first = timer.sent(0, kSentBytes, true);
  const auto second = timer.sent(0, kSentBytes, false);
  timer.acknowledged(200 * kOneMs, first, kRoundTrip);
  timer.acknowledged(210 * kOneMs, second, kRoundTrip);
  EXPECT_DOUBLE_EQ(timer.take()->s_per_byte(), 0.2 / 200'000)
      << "a late first acknowledgement makes no fast link";
}

TEST(DeliveryTimer, APauseOfTheSenderDoesNotCount) {
  DeliveryTimer timer;
  timer.acknowledged(110 * kOneMs, timer.sent(0, kSentBytes, true), kRoundTrip);
  timer.take();
  // Over an idle link.
  timer.acknowledged(5'110 * kOneMs, timer.sent(5'000 * kOneMs, kSentBytes, true), kRoundTrip);
  EXPECT_DOUBLE_EQ(timer.take()->s_per_byte(), 0.1 / 100'000);
  // Behind a part that is still in flight.
  const auto before = timer.sent(6'000 * kOneMs, kSentBytes, true);
  timer.nothing_to_send();
  const auto after = timer.sent(6'100 * kOneMs, kSentBytes, false);
  timer.acknowledged(6'110 * kOneMs, before, kRoundTrip);
  timer.acknowledged(6'210 * kOneMs, after, kRoundTrip);
  EXPECT_DOUBLE_EQ(timer.take()->s_per_byte(), 0.1 / 100'000);
}

TEST(DeliveryTimer, TheFastestCounts) {
  DeliveryTimer timer;
  for (const TimeNs took : {210 * kOneMs, 110 * kOneMs, 310 * kOneMs}) {
    timer.acknowledged(took, timer.sent(0, kSentBytes, true), kRoundTrip);
  }
  EXPECT_DOUBLE_EQ(timer.take()->s_per_byte(), 0.1 / 100'000);
}

TEST(DeliveryTimer, FewBytesCountOnlyWithoutMany) {
  DeliveryTimer timer;
  timer.acknowledged(21 * kOneMs, timer.sent(0, 20'000, true), kRoundTrip);
  timer.acknowledged(110 * kOneMs, timer.sent(0, kSentBytes, true), kRoundTrip);
  timer.acknowledged(22 * kOneMs, timer.sent(0, 20'000, true), kRoundTrip);
  EXPECT_EQ(timer.take()->bytes, kSentBytes) << "the others may be a burst";
  timer.acknowledged(21 * kOneMs, timer.sent(0, 20'000, true), kRoundTrip);
  const std::optional<Delivery> few = timer.take();
  ASSERT_TRUE(few);
  EXPECT_TRUE(few->measures_rate());
  EXPECT_FALSE(few->is_large());
}

// The link is fast, or far away: how fast it is does not show.
TEST(DeliveryTimer, AShortTimeIsOnlyABound) {
  DeliveryTimer timer;
  timer.acknowledged(12 * kOneMs, timer.sent(0, kSentBytes, true), kRoundTrip);
  const std::optional<Delivery> bound = timer.take();
  ASSERT_TRUE(bound);
  EXPECT_FALSE(bound->measures_rate());
  EXPECT_DOUBLE_EQ(bound->s_per_byte(), 0.006 / 100'000) << "no more than half is subtracted";
  timer.acknowledged(110 * kOneMs, timer.sent(0, kSentBytes, true), kRoundTrip);
  timer.acknowledged(12 * kOneMs, timer.sent(0, kSentBytes, true), kRoundTrip);
  EXPECT_FALSE(timer.take()->measures_rate()) << "the other acknowledgement was late";
}

TEST(DeliveryTimer, VeryFewBytesOrAnUnknownRoundTripAreNotMeasured) {
  DeliveryTimer timer;
  timer.acknowledged(50 * kOneMs, timer.sent(0, DeliveryTimer::kBytesMin - 1, true), kRoundTrip);
  timer.acknowledged(50 * kOneMs, timer.sent(0, kSentBytes, true), 0);
  timer.acknowledged(0, timer.sent(0, kSentBytes, true), kRoundTrip);
  EXPECT_FALSE(timer.take());
}

}  // namespace
}  // namespace tributary
