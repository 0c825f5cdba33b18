// Tests of estimating latency and rate of a link from transfers. A simulated noisy link with known
// values is the reference, also while it changes.
#include "core/link_quality/link_estimator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/link_quality/noisy_link_testing.h"

namespace tributary {
namespace {

constexpr double kSmall = 200;
constexpr double kLarge = 1e6;

// A heartbeat and a train once per second, as in a round.
void run(LinkEstimator& estimator, NoisyLink& link, double& now_s, int seconds) {
  for (int i = 0; i < seconds; ++i) {
    now_s += 1;
    estimator.add(link.transfer(TransferKind::round_trip, kSmall, now_s));
    estimator.add(link.transfer(TransferKind::train, kLarge, now_s));
  }
}

// Expects both quantities within `tolerance`, a share, of the link's true values.
void expect_near(const LinkEstimator& estimator, const NoisyLink& link, double now_s,
                 double tolerance) {
  const MeasuredLink measured = estimator.measured(now_s);
  EXPECT_NEAR(measured.alpha_s.value / link.alpha_s, 1, tolerance);
  EXPECT_NEAR(measured.beta_s_per_byte.value / link.beta_s_per_byte, 1, tolerance);
}

// Seconds per byte at this rate.
constexpr double per_byte(double mbit_per_s) { return 8 / (mbit_per_s * 1e6); }

// Unknown is distinguishable from 0, which would be an ideal link.
TEST(LinkEstimator, NothingIsKnownOfAnUnusedLink) {
  const MeasuredLink measured = LinkEstimator().measured(5);
  EXPECT_FALSE(measured.known());
  EXPECT_FALSE(measured.alpha_s.known());
  EXPECT_EQ(measured.confidence(), 0);
  EXPECT_TRUE(std::isinf(measured.age_s()));
  EXPECT_EQ(measured.estimate().alpha_s, 0);
  EXPECT_EQ(measured.estimate().beta_s_per_byte, 0);
}

// All rates, latencies and seeds, with queues of up to half of the latency on average. If a
// heartbeat's own bytes take long compared with the latency, the latency is less accurate.
TEST(LinkEstimator, FindsRateAndLatencyBehindQueues) {
  for (const double mbit : {1.0, 10.0, 100.0, 1000.0}) {
    for (const double ms : {0.2, 1.0, 10.0, 50.0}) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(testing::Message() << mbit << " Mbit/s, " << ms << " ms, seed " << seed);
        NoisyLink link(ms / 1e3, per_byte(mbit), seed);
        link.queue_s = link.alpha_s / 2;
        link.rate_noise = 0.3;
        LinkEstimator estimator;
        double now_s = 0;
        run(estimator, link, now_s, 40);
        const MeasuredLink measured = estimator.measured(now_s);
        const bool clear = kSmall * link.beta_s_per_byte < link.alpha_s / 2;
        EXPECT_NEAR(measured.beta_s_per_byte.value / link.beta_s_per_byte, 1, 0.15);
        EXPECT_GT(measured.beta_s_per_byte.confidence, 0.4);
        if (clear) {
          EXPECT_LT(measured.age_s(), 1);
          EXPECT_NEAR(measured.alpha_s.value / link.alpha_s, 1, 0.15);
          EXPECT_GT(measured.alpha_s.confidence, 0.3);
        } else if (measured.alpha_s.confidence > 0.5) {
          EXPECT_NEAR(measured.alpha_s.value / link.alpha_s, 1, 0.3);
        }
      }
    }
  }
}

// Only whole transfers of many sizes: the fit separates both quantities.
TEST(LinkEstimator, SeparatesLatencyAndRateBySizes) {
  for (const TransferKind kind : {TransferKind::one_way, TransferKind::acknowledged}) {
    for (const double ms : {1.0, 10.0, 50.0}) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(testing::Message() << ms << " ms, seed " << seed);
        NoisyLink link(ms / 1e3, per_byte(100), seed);
        link.queue_s = link.alpha_s / 5;
        link.rate_noise = 0.1;
        LinkEstimator estimator;
        for (double now_s = 0; now_s < 60; ++now_s) {
          estimator.add(link.transfer(kind, link.size(1e3, 1e7), now_s));
        }
        expect_near(estimator, link, 60, 0.15);
        EXPECT_GT(estimator.measured(60).confidence(), 0.3);
      }
    }
  }
}

// Transfers of one size do not separate latency from rate, so both confidences stay low until there
// are round trips.
TEST(LinkEstimator, EqualSizesAreNotTrustedUntilThereAreRoundTrips) {
  NoisyLink link(0.02, per_byte(100), 1);
  link.queue_s = 0.001;
  LinkEstimator estimator;
  for (double now_s = 0; now_s < 60; ++now_s) {
    estimator.add(link.transfer(TransferKind::one_way, 3e5, now_s));
  }
  EXPECT_LT(estimator.measured(60).confidence(), 0.01);
  for (double now_s = 60; now_s < 90; ++now_s) {
    estimator.add(link.transfer(TransferKind::one_way, 3e5, now_s));
    estimator.add(link.transfer(TransferKind::round_trip, kSmall, now_s));
  }
  expect_near(estimator, link, 90, 0.1);
  EXPECT_GT(estimator.measured(90).confidence(), 0.5);
}

// 200 bytes take 16 µs of a round trip of 40 ms: too little to know the rate.
TEST(LinkEstimator, HeartbeatsAloneMeasureLatencyAlone) {
  NoisyLink link(0.02, per_byte(100), 1);
  LinkEstimator estimator;
  for (double now_s = 0; now_s < 30; ++now_s) {
    estimator.add(link.transfer(TransferKind::round_trip, kSmall, now_s));
  }
  const MeasuredLink measured = estimator.measured(30);
  EXPECT_NEAR(measured.alpha_s.value, link.alpha_s, 1e-4);
  EXPECT_GT(measured.alpha_s.confidence, 0.8);
  EXPECT_FALSE(measured.beta_s_per_byte.known());
  EXPECT_FALSE(measured.known());
  EXPECT_EQ(measured.confidence(), 0);
}

// Other traffic that takes nine tenths of the link and fills its queues, for five of thirty
// seconds.
TEST(LinkEstimator, ABurstOfOtherTrafficPasses) {
  int mistaken = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    NoisyLink link(0.01, per_byte(100), seed);
    link.queue_s = 0.001;
    link.rate_noise = 0.1;
    LinkEstimator estimator;
    double now_s = 0;
    run(estimator, link, now_s, 30);
    const double before = estimator.measured(now_s).confidence();
    NoisyLink crowded(0.11, per_byte(10), seed);
    for (int second = 0; second < 4; ++second) {
      run(estimator, crowded, now_s, 1);
      const MeasuredLink measured = estimator.measured(now_s);
      EXPECT_LT(measured.confidence(), before);
      if (measured.confidence() < 0.2) {
        ++mistaken;
      } else {
        expect_near(estimator, link, now_s, 0.1);
      }
    }
    run(estimator, link, now_s, 3);
    expect_near(estimator, link, now_s, 0.1);
    run(estimator, link, now_s, 27);
    EXPECT_GT(estimator.measured(now_s).confidence(), 0.8);
  }
  EXPECT_LE(mistaken, 2);
}

// A thousand transfers that waited in the same queue are one observation of it.
TEST(LinkEstimator, ManyReadingsOfAMomentAreOne) {
  NoisyLink link(0.01, per_byte(100), 3);
  LinkEstimator estimator;
  double now_s = 0;
  run(estimator, link, now_s, 30);
  NoisyLink crowded(0.11, per_byte(10), 3);
  for (int i = 0; i < 1000; ++i) {
    now_s += 0.001;
    estimator.add(crowded.transfer(TransferKind::round_trip, kSmall, now_s));
    estimator.add(crowded.transfer(TransferKind::train, kLarge, now_s));
  }
  expect_near(estimator, link, now_s, 0.1);
}

// One step of a trace: rate and one-way latency.
struct Phase {
  double mbit_per_s;
  double ms;
};
// Traces C1 and C2 of docs/traces; each path has the latencies of two links.
constexpr Phase kTraceC1[] = {{1000, 1}, {40, 1}, {40, 50}, {1000, 50}};
constexpr Phase kTraceC2[] = {{1000, 1}, {400, 1}, {40, 50}, {400, 1}, {1000, 1}};

// Six readings of the changed link are sufficient for an estimate within 15 %.
TEST(LinkEstimator, FollowsALinkThatChangesWithinSixReadings) {
  for (const std::span<const Phase> trace : {std::span<const Phase>(kTraceC1), {kTraceC2}}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      LinkEstimator estimator;
      double now_s = 0;
      for (int turn = 0; turn < 3; ++turn) {
        for (const Phase& phase : trace) {
          SCOPED_TRACE(testing::Message() << phase.mbit_per_s << " Mbit/s, " << phase.ms
                                          << " ms, turn " << turn << ", seed " << seed);
          NoisyLink link(phase.ms / 1e3, per_byte(phase.mbit_per_s), seed + 100);
          link.queue_s = link.alpha_s / 20;
          link.rate_noise = 0.05;
          run(estimator, link, now_s, 6);
          expect_near(estimator, link, now_s, 0.15);
          run(estimator, link, now_s, 6);
          expect_near(estimator, link, now_s, 0.1);
          EXPECT_GT(estimator.measured(now_s).confidence(), 0.4);
        }
      }
    }
  }
}

// Whole transfers from before a new latency contain the old one, and remain valid for the rate.
TEST(LinkEstimator, AChangeOfOneQuantityKeepsTheOther) {
  for (const auto& [before, after] :
       {std::pair(Phase{100, 1}, Phase{100, 50}), {Phase{100, 50}, Phase{100, 1}}}) {
    NoisyLink link(before.ms / 1e3, per_byte(before.mbit_per_s), 1);
    LinkEstimator estimator;
    double now_s = 0;
    for (int i = 0; i < 30; ++i) {
      now_s += 1;
      estimator.add(link.transfer(TransferKind::round_trip, kSmall, now_s));
      if (i % 5 == 0) estimator.add(link.transfer(TransferKind::acknowledged, kLarge, now_s));
    }
    expect_near(estimator, link, now_s, 0.02);
    link.alpha_s = after.ms / 1e3;
    for (int i = 0; i < 6; ++i) {
      now_s += 1;
      estimator.add(link.transfer(TransferKind::round_trip, kSmall, now_s));
    }
    expect_near(estimator, link, now_s, 0.05);
  }
}

// The same with whole transfers of many sizes, which mix both quantities.
TEST(LinkEstimator, FollowsWholeTransfersToo) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    LinkEstimator estimator;
    double now_s = 0;
    for (const Phase& phase : kTraceC1) {
      SCOPED_TRACE(testing::Message()
                   << phase.mbit_per_s << " Mbit/s, " << phase.ms << " ms, seed " << seed);
      NoisyLink link(phase.ms / 1e3, per_byte(phase.mbit_per_s), seed);
      link.queue_s = link.alpha_s / 20;
      for (int i = 0; i < 60; ++i) {
        now_s += 1;
        estimator.add(link.transfer(TransferKind::acknowledged, link.size(1e3, 1e8), now_s));
      }
      expect_near(estimator, link, now_s, 0.15);
    }
  }
}

// The values stay, because nothing newer is known; only the confidence falls, to almost nothing
// after 30 years.
TEST(LinkEstimator, OldReadingsAreTrustedLess) {
  NoisyLink link(0.01, per_byte(100), 1);
  LinkEstimator estimator;
  double now_s = 0;
  run(estimator, link, now_s, 30);
  const MeasuredLink fresh = estimator.measured(now_s);
  double confidence = fresh.confidence();
  for (const double later_s : {600.0, 3600.0, 10'000.0, 1e9}) {
    const MeasuredLink old = estimator.measured(now_s + later_s);
    EXPECT_LT(old.confidence(), confidence);
    EXPECT_NEAR(old.age_s(), later_s, 1);
    EXPECT_NEAR(old.alpha_s.value, fresh.alpha_s.value, 0.01 * fresh.alpha_s.value);
    confidence = old.confidence();
  }
  EXPECT_LT(confidence, 1e-6);
  EXPECT_EQ(estimator.measured(-1e9).age_s(), 0) << "a clock that is behind";
}

// Readings come from agents. None of them may change an estimate or make it NaN.
TEST(LinkEstimator, ImpossibleReadingsAreCountedAndIgnored) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  NoisyLink link(0.01, per_byte(100), 1);
  LinkEstimator estimator;
  double now_s = 0;
  run(estimator, link, now_s, 20);
  const MeasuredLink before = estimator.measured(now_s);
  const LinkTransfer good = link.transfer(TransferKind::one_way, 1e5, now_s);
  std::uint64_t bad = 0;
  for (const double value : {kNaN, kInfinity, -kInfinity, 0.0, -1.0, 1e300, 1e-300}) {
    LinkTransfer transfer = good;
    transfer.bytes = value;
    estimator.add(transfer);
    transfer = good;
    transfer.seconds = value;
    estimator.add(transfer);
    bad += 2;
  }
  for (const double at_s : {kNaN, kInfinity, -kInfinity, now_s - 1}) {
    LinkTransfer transfer = good;
    transfer.at_s = at_s;
    estimator.add(transfer);
    ++bad;
  }
  EXPECT_EQ(estimator.ignored(), bad);
  EXPECT_EQ(estimator.taken(), 40u);
  const MeasuredLink after = estimator.measured(now_s);
  EXPECT_EQ(after.alpha_s.value, before.alpha_s.value);
  EXPECT_EQ(after.beta_s_per_byte.value, before.beta_s_per_byte.value);
  EXPECT_EQ(after.confidence(), before.confidence());
}

// For arbitrary readings, every result is a number and every confidence is in its range.
TEST(LinkEstimator, ArbitraryReadingsNeverGiveNonsense) {
  constexpr TransferKind kKinds[] = {TransferKind::round_trip, TransferKind::train,
                                     TransferKind::one_way, TransferKind::acknowledged};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    NoisyLink random(0, 0, seed);
    LinkEstimator estimator;
    double now_s = 0;
    for (int i = 0; i < 100; ++i) {
      now_s += random.size(1e-6, 1e6);
      estimator.add({.kind = kKinds[static_cast<std::size_t>(4 * random.uniform())],
                     .bytes = random.size(1, LinkEstimator::kBytesMax),
                     .seconds = random.size(LinkEstimator::kSecondsMin, LinkEstimator::kSecondsMax),
                     .at_s = now_s});
      const MeasuredLink measured = estimator.measured(now_s);
      for (const LinkQuantity& quantity : {measured.alpha_s, measured.beta_s_per_byte}) {
        if (!quantity.known()) continue;
        ASSERT_TRUE(std::isfinite(quantity.value) && quantity.value >= 0) << seed << ' ' << i;
        ASSERT_TRUE(quantity.confidence >= 0 && quantity.confidence <= 1) << seed << ' ' << i;
        ASSERT_GE(quantity.age_s, 0);
      }
    }
  }
}

// A coordinator keeps one estimator per link.
TEST(LinkEstimator, IsSmall) { EXPECT_LE(sizeof(LinkEstimator), 1800u); }

}  // namespace
}  // namespace tributary
