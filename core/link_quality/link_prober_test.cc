// Tests of deciding when a link is probed and how much that may cost.
#include "core/link_quality/link_prober.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/link_quality/noisy_link_testing.h"

namespace tributary {
namespace {

constexpr double kHour_s = 3600;

// Both quantities measured ten seconds ago with a confidence of 0.9.
MeasuredLink well_known() {
  return {.alpha_s = {.value = 0.01, .confidence = 0.9, .age_s = 10},
          .beta_s_per_byte = {.value = 1e-6, .confidence = 0.9, .age_s = 10}};
}

// Calls next() every second for this time, and answers if `answered`.
std::vector<LinkProbe> probes_of(LinkProber& prober, double& now_s, double seconds,
                                 const MeasuredLink& known, bool answered = true) {
  std::vector<LinkProbe> probes;
  for (const double end_s = now_s + seconds; now_s < end_s; ++now_s) {
    const auto probe = prober.next(now_s, known);
    if (!probe) continue;
    probes.push_back(*probe);
    if (answered) prober.answered();
  }
  return probes;
}

// Round trips and trains alternate, because each measures one of the two unknown quantities.
TEST(LinkProber, AQuietUnknownLinkIsProbedForBoth) {
  LinkProber prober(0);
  double now_s = 0;
  EXPECT_TRUE(probes_of(prober, now_s, 5, {}).empty()) << "not quiet for long enough";
  const std::vector<LinkProbe> probes = probes_of(prober, now_s, 40, {});
  ASSERT_EQ(probes.size(), 4u) << "one in ten seconds";
  EXPECT_EQ(probes[0].kind, TransferKind::round_trip);
  EXPECT_EQ(probes[0].padding_bytes, 0u);
  EXPECT_EQ(probes[1].kind, TransferKind::train);
  EXPECT_EQ(probes[1].parts * probes[1].padding_bytes, LinkProber::kTrainBytesMin);
  EXPECT_EQ(probes[2].kind, TransferKind::round_trip);
  EXPECT_EQ(probes[3].kind, TransferKind::train);
}

// Traffic every four seconds: its own timing measures the link for nothing.
TEST(LinkProber, ALinkThatIsUsedIsNotProbed) {
  LinkProber prober(0);
  for (double now_s = 0; now_s < kHour_s; now_s += 4) {
    prober.carried(now_s, 1000);
    EXPECT_FALSE(prober.next(now_s, {}));
    EXPECT_FALSE(prober.next(now_s + 3, {}));
  }
  EXPECT_EQ(prober.probe_bytes(), 0);
}

// After 300 s a value counts as old. Only the quantity that is old or uncertain is probed.
TEST(LinkProber, WellKnownLinksAreNotProbed) {
  LinkProber prober(0);
  double now_s = 0;
  MeasuredLink known = well_known();
  EXPECT_TRUE(probes_of(prober, now_s, kHour_s, known).empty());
  known.alpha_s.age_s = 301;
  for (const LinkProbe& probe : probes_of(prober, now_s, 100, known)) {
    EXPECT_EQ(probe.kind, TransferKind::round_trip);
  }
  known = well_known();
  known.beta_s_per_byte.confidence = 0.4;
  const std::vector<LinkProbe> probes = probes_of(prober, now_s, 100, known);
  EXPECT_GT(probes.size(), 3u);
  for (const LinkProbe& probe : probes) EXPECT_EQ(probe.kind, TransferKind::train);
}

// The length follows the known rate, within its bounds.
TEST(LinkProber, ATrainIsAsLongAsItsTimingNeedsAndNoLonger) {
  const auto padding_at = [](double beta_s_per_byte) {
    LinkProber prober(0, {.allowance_bytes_per_hour = 1e9});
    MeasuredLink known = well_known();
    known.beta_s_per_byte = {.value = beta_s_per_byte, .confidence = 0.1, .age_s = 1};
    const auto probe = prober.next(100, known);
    return probe ? probe->parts * static_cast<double>(probe->padding_bytes) : 0;
  };
  EXPECT_EQ(padding_at(1e-4), LinkProber::kTrainBytesMin);
  EXPECT_NEAR(padding_at(1e-7), LinkProber::kTrain_s / 1e-7, LinkProber::kTrainParts);
  EXPECT_EQ(padding_at(1e-10), LinkProber::kTrainBytesMax);
  EXPECT_EQ(padding_at(0), LinkProber::kTrainBytesMin);
}

// The budget holds at every moment, whatever is requested and carried.
TEST(LinkProber, NeverSpendsMoreThanItsBudget) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    NoisyLink random(0, 0, seed);
    LinkProber prober(0);
    double now_s = 0;
    double carried = 0;
    double sent = 0;
    for (int i = 0; i < 5000; ++i) {
      now_s += random.size(0.1, 100);
      MeasuredLink known = well_known();
      known.alpha_s.confidence = random.uniform();
      known.beta_s_per_byte = {.value = random.size(1e-10, 1e-4), .confidence = random.uniform()};
      if (random.uniform() < 0.1) {
        const double bytes = random.size(1, 1e8);
        prober.carried(now_s, bytes);
        carried += bytes;
      }
      if (const auto probe = prober.next(now_s, known)) {
        sent += probe->bytes();
        if (random.uniform() < 0.8) prober.answered();
      }
      const double hours = static_cast<double>(static_cast<int>(now_s / kHour_s)) + 1;
      ASSERT_LE(sent, 0.005 * carried + 256 * 1024 * hours) << seed << ' ' << i;
    }
    EXPECT_EQ(prober.probe_bytes(), sent);
    EXPECT_GT(sent, 0);
  }
}

// 256 KiB per hour, of which more than 200 KiB are used, since nothing else measures the link.
TEST(LinkProber, ALinkWithoutTrafficSpendsItsAllowanceAndWaitsForTheNext) {
  LinkProber prober(0);
  double now_s = 0;
  probes_of(prober, now_s, kHour_s, {});
  EXPECT_LE(prober.probe_bytes(), 256 * 1024);
  EXPECT_GT(prober.probe_bytes(), 200 * 1024);
  const double first = prober.probe_bytes();
  EXPECT_FALSE(probes_of(prober, now_s, kHour_s, {}).empty());
  EXPECT_LE(prober.probe_bytes(), 2 * 256 * 1024);
  EXPECT_GT(prober.probe_bytes(), first);
}

// The budget is smaller than a train, but round trips fit.
TEST(LinkProber, ATrainThatDoesNotFitLetsRoundTripsPass) {
  LinkProber prober(0, {.allowance_bytes_per_hour = 8 * 1024});
  double now_s = 0;
  const std::vector<LinkProbe> probes = probes_of(prober, now_s, 60, {});
  EXPECT_EQ(probes.size(), 6u);
  for (const LinkProbe& probe : probes) EXPECT_EQ(probe.kind, TransferKind::round_trip);
}

// The interval doubles without an answer up to an hour, so 100 hours have 100 probes. An answer
// resets it.
TEST(LinkProber, SilentAgentsAreProbedLessOften) {
  LinkProber prober(0);
  double now_s = 0;
  EXPECT_EQ(probes_of(prober, now_s, kHour_s, {}, false).size(), 9u) << "10, 20, ... 2560 s";
  prober.answered();
  now_s += kHour_s;
  EXPECT_GE(probes_of(prober, now_s, 60, {}).size(), 6u);
  double later_s = 0;
  LinkProber silent(0);
  probes_of(silent, later_s, 100 * kHour_s, {}, false);
  EXPECT_EQ(probes_of(silent, later_s, 100 * kHour_s, {}, false).size(), 100u);
}

// A byte count of infinity would buy an infinite budget.
TEST(LinkProber, TimesAndSizesThatCannotBeChangeNothing) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  LinkProber prober(0);
  for (const double bytes : {kNaN, kInfinity, -5.0, 0.0}) prober.carried(100, bytes);
  for (const double at_s : {kNaN, kInfinity}) {
    prober.carried(at_s, 1e9);
    EXPECT_FALSE(prober.next(at_s, {}));
  }
  EXPECT_EQ(prober.budget_bytes(0), 256 * 1024);
  ASSERT_TRUE(prober.next(100, {}));
  EXPECT_FALSE(prober.next(-1e9, {})) << "a clock that went back: no time has passed";
}

// Probes alone are sufficient to know a quiet link within the allowance of its first hour.
TEST(LinkProber, ResultsOfProbesAreEnough) {
  for (const double mbit : {1.0, 10.0, 100.0}) {
    SCOPED_TRACE(mbit);
    NoisyLink link(0.02, 8 / (mbit * 1e6), 5);
    link.queue_s = 0.002;
    link.rate_noise = 0.05;
    LinkEstimator estimator;
    LinkProber prober(0);
    double now_s = 0;
    for (; now_s < 900 && estimator.measured(now_s).confidence() < 0.5; ++now_s) {
      const auto probe = prober.next(now_s, estimator.measured(now_s));
      if (!probe) continue;
      const bool train = probe->kind == TransferKind::train;
      const double bytes =
          train ? (probe->parts - 1) * (probe->padding_bytes + LinkProber::kMessageBytes) : 200;
      estimator.add(link.transfer(probe->kind, bytes, now_s));
      prober.answered();
    }
    const MeasuredLink measured = estimator.measured(now_s);
    EXPECT_NEAR(measured.alpha_s.value / link.alpha_s, 1, 0.15);
    EXPECT_NEAR(measured.beta_s_per_byte.value / link.beta_s_per_byte, 1, 0.15);
    EXPECT_GE(measured.confidence(), 0.5);
    EXPECT_LT(prober.probe_bytes(), 256 * 1024);
  }
}

}  // namespace
}  // namespace tributary
