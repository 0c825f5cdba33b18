// Tests of the coordinator's figures of links: readings from payloads, heartbeats and probes, their
// storage, and their metrics.
#include "coordinator/links/link_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tributary {
namespace {

class CountedMetrics final : public Metrics {
 public:
  void count(std::string_view name, const Labels& labels, double by) override {
    if (labels.contains("reason")) refused[labels.at("reason")] += by;
    counted[std::string(name)] += by;
  }
  void set(std::string_view name, double value, const Labels& labels) override {
    gauges[std::string(name)] = value;
    if (labels.contains("figure")) labeled[std::string(name) + " " + labels.at("figure")] = value;
  }

  std::map<std::string, double> refused;
  std::map<std::string, double> counted;
  std::map<std::string, double> gauges;
  std::map<std::string, double> labeled;  // by metric and its label `figure`
};

struct LinkFiguresTest : testing::Test {
  std::map<std::string, double> readings(std::uint64_t round) {
    std::map<std::string, double> out;
    for (const DatedReading& row : telemetry.take().metrics) {
      EXPECT_EQ(row.reading.round, round);
      out[std::string(row.reading.name)] = row.reading.value;
    }
    return out;
  }

  ManualClock clock;
  TelemetryBuffer telemetry{clock};
  CountedMetrics metrics;
  LinkFigures figures{clock, metrics, telemetry};
};

// Byte counters are totals; a reading is the difference to the previous round.
TEST_F(LinkFiguresTest, ARoundHasTheBytesSinceThePreviousRound) {
  figures.round_published({.kind = ReadingKind::round_s, .job = 1, .round = 1},
                          {.wire_bytes_in = 10, .wire_bytes_out = 20});
  EXPECT_EQ(readings(1),
            (std::map<std::string, double>{{"wire_bytes_up", 10}, {"wire_bytes_down", 20}}));
  figures.round_published({.kind = ReadingKind::round_s, .job = 1, .round = 2},
                          {.wire_bytes_in = 15, .wire_bytes_out = 20});
  EXPECT_EQ(readings(2),
            (std::map<std::string, double>{{"wire_bytes_up", 5}, {"wire_bytes_down", 0}}));
}

// Refusals are totals as well; each is counted once.
TEST_F(LinkFiguresTest, ARefusalIsCountedOnce) {
  LinkCounters counters;
  counters.refused[static_cast<std::size_t>(RefusalReason::bad_parts)] = 3;
  figures.count_refusals(counters);
  figures.count_refusals(counters);
  ++counters.refused[static_cast<std::size_t>(RefusalReason::unknown_key)];
  figures.count_refusals(counters);
  EXPECT_EQ(metrics.refused, (std::map<std::string, double>{{"bad_parts", 3}, {"unknown_key", 1}}));
}

// A latency is stored at most once per kAlphaEvery.
TEST_F(LinkFiguresTest, TheWayToAnAgentIsKeptOnceInAWhile) {
  for (const double trip_s : {0.3, 0.1, 0.2}) {
    figures.round_trip("a", trip_s);
    clock.advance(std::chrono::seconds(1));
  }
  figures.round_trip("b", 0.5);
  figures.run_periodic_tasks();
  EXPECT_EQ(telemetry.take().size(), 0u) << "too early";
  clock.advance(LinkFigures::kAlphaEvery);
  figures.run_periodic_tasks();
  const TelemetryRows rows = telemetry.take();
  ASSERT_EQ(rows.link_samples.size(), 2u);
  EXPECT_EQ(rows.link_samples[0].from, "");
  EXPECT_EQ(rows.link_samples[0].to, "a");
  EXPECT_NEAR(rows.link_samples[0].alpha_s, 0.05, 0.002) << "half of the shortest";
  EXPECT_TRUE(std::isnan(rows.link_samples[0].beta_s_per_byte)) << "heartbeats do not tell";
  EXPECT_GT(rows.link_samples[0].confidence, 0);
  EXPECT_LT(rows.link_samples[0].confidence, 0.5) << "three that do not agree";
  EXPECT_NEAR(rows.link_samples[1].alpha_s, 0.25, 1e-6);
  clock.advance(LinkFigures::kAlphaEvery);
  figures.run_periodic_tasks();
  EXPECT_EQ(telemetry.take().size(), 0u) << "nothing was measured since";
  figures.round_trip("a", 0.5);
  figures.close();
  EXPECT_EQ(telemetry.take().link_samples.size(), 1u) << "early, at the end";
  EXPECT_EQ(metrics.counted.at("tributary_round_trips_total"), 5);
  EXPECT_NEAR(metrics.counted.at("tributary_round_trip_seconds_total"), 1.6, 1e-9);
}

// An upper bound of the time per byte counts only if it shows a faster link.
TEST_F(LinkFiguresTest, AnUpperBoundOnlyCountsIfTheLinkIsFaster) {
  figures.uplink_at_most("a", 1e-6);
  EXPECT_FALSE(figures.measured_links("a").up.beta_s_per_byte.known())
      << "it may be any quicker one";
  figures.uplink("a", 1e-6);
  clock.advance(std::chrono::seconds(1));
  figures.uplink_at_most("a", 5e-6);
  EXPECT_NEAR(figures.measured_links("a").up.beta_s_per_byte.value, 1e-6, 1e-8);
  for (int i = 0; i < 3; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink_at_most("a", 0.5e-6);
  }
  EXPECT_LT(figures.measured_links("a").up.beta_s_per_byte.value, 0.7e-6);
}

// A small payload may pass in a burst, so it is ignored soon after a large one.
TEST_F(LinkFiguresTest, FewBytesAreIgnoredAfterARecentLargePayload) {
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink("a", 1e-6);
    figures.uplink_of_few("b", 1e-6);
  }
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink_of_few("a", 1e-8);
    figures.uplink_of_few("b", 1e-8);
  }
  EXPECT_NEAR(figures.measured_links("a").up.beta_s_per_byte.value, 1e-6, 1e-8) << "it was a burst";
  EXPECT_NEAR(figures.measured_links("b").up.beta_s_per_byte.value, 1e-8, 1e-10)
      << "nothing else tells";
  clock.advance(LinkFigures::kLargeValidTime);
  for (int i = 0; i < 3; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink_of_few("a", 1e-8);
  }
  EXPECT_LT(figures.measured_links("a").up.beta_s_per_byte.value, 1e-7) << "that was long ago";
}

// Two consecutive slow rounds are needed; a single one may have another cause.
TEST_F(LinkFiguresTest, TwoThatTakeMuchLongerReplaceTheRate) {
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink("a", 1e-7);
  }
  EXPECT_FALSE(figures.slower_now("a"));
  figures.uplink("a", 2e-6);
  EXPECT_FALSE(figures.slower_now("a")) << "one may have met with anything";
  clock.advance(std::chrono::seconds(1));
  figures.uplink("a", 3e-6);
  EXPECT_DOUBLE_EQ(figures.slower_now("a").value_or(0), 2e-6);
  figures.uplink_of_few("a", 1e-8);
  EXPECT_TRUE(figures.slower_now("a")) << "few bytes do not tell otherwise";
  figures.uplink("a", 1e-7);
  EXPECT_FALSE(figures.slower_now("a")) << "it is as it was";
  figures.uplink("a", 3e-6);
  figures.uplink("a", 3e-6);
  clock.advance(LinkFigures::kLargeValidTime);
  EXPECT_FALSE(figures.slower_now("a")) << "that was long ago";
  EXPECT_FALSE(figures.slower_now("nobody"));
}

// Payloads to an agent measure its downlink as its own payloads measure its uplink.
TEST_F(LinkFiguresTest, ADownlinkIsMeasuredByPayloadsAndForItself) {
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink("a", 1e-6);
    figures.downlink("a", 1e-7);
    figures.downlink_of_few("a", 1e-9);
    figures.downlink_of_few("b", 2e-7);
  }
  EXPECT_NEAR(figures.measured_links("a").up.beta_s_per_byte.value, 1e-6, 1e-8);
  EXPECT_NEAR(figures.measured_links("a").down.beta_s_per_byte.value, 1e-7, 1e-9);
  EXPECT_GT(figures.measured_links("a").down.beta_s_per_byte.confidence, LinkFigures::kTrusted);
  EXPECT_NEAR(figures.measured_links("b").down.beta_s_per_byte.value, 2e-7, 2e-9);
  const TelemetryRows rows = telemetry.take();
  ASSERT_GE(rows.link_samples.size(), 3u);
  EXPECT_EQ(rows.link_samples[1].from, "");
  EXPECT_EQ(rows.link_samples[1].to, "a");
  EXPECT_NEAR(rows.link_samples[1].beta_s_per_byte, 1e-7, 1e-9);
  EXPECT_EQ(rows.link_samples[1].method, wire::LinkMethod::passive);
  figures.downlink("a", 1e-6);
  figures.downlink("a", 1e-6);
  EXPECT_FALSE(figures.slower_now("a")) << "it is about uplinks";
}

// Until the downlink is known, plans take it to be as fast as the uplink.
TEST_F(LinkFiguresTest, AnUpperBoundOfADownlinkCountsIfItIsFasterThanKnown) {
  const auto down = [&] { return figures.measured_links("a").down.beta_s_per_byte; };
  figures.downlink_at_most("a", 1e-9);
  EXPECT_FALSE(down().known()) << "nothing to compare it with";
  figures.uplink("a", 1e-6);
  clock.advance(std::chrono::seconds(1));
  figures.downlink_at_most("a", 2e-6);
  EXPECT_FALSE(down().known()) << "it may be as fast as the uplink";
  for (int i = 0; i < 3; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.downlink_at_most("a", 1e-7);
  }
  EXPECT_NEAR(down().value, 1e-7, 1e-9);
  figures.downlink_at_most("a", 5e-7);
  EXPECT_NEAR(down().value, 1e-7, 1e-9) << "it may be faster than that";
}

// A rate is stored at most once per kBetaEvery.
TEST_F(LinkFiguresTest, TheRateOfALinkIsStoredOncePerSecond) {
  figures.uplink("a", 1e-6);
  figures.uplink("a", 1e-6);
  figures.uplink("b", 3e-6);
  clock.advance(LinkFigures::kBetaEvery);
  figures.uplink("a", 1e-6);
  const TelemetryRows rows = telemetry.take();
  ASSERT_EQ(rows.link_samples.size(), 3u);
  EXPECT_EQ(rows.link_samples[0].from, "a");
  EXPECT_EQ(rows.link_samples[0].to, "");
  EXPECT_NEAR(rows.link_samples[0].beta_s_per_byte, 1e-6, 1e-9);
  EXPECT_TRUE(std::isnan(rows.link_samples[0].alpha_s));
  EXPECT_EQ(rows.link_samples[1].from, "b");
  EXPECT_EQ(rows.link_samples[2].from, "a");
  EXPECT_GT(rows.link_samples[2].confidence, rows.link_samples[0].confidence);
}

TEST_F(LinkFiguresTest, ImpossibleTimesAreNotStored) {
  for (const double value : {0.0, -1.0, std::nan("")}) {
    figures.uplink("a", value);
    figures.round_trip("a", value);
  }
  figures.close();
  EXPECT_EQ(telemetry.take().size(), 0u);
}

// Links with little confidence do not count for the gauges.
TEST_F(LinkFiguresTest, MetricsHaveTheSlowestOfTheLinksThatAreKnown) {
  figures.close();
  EXPECT_TRUE(std::isnan(metrics.gauges.at("tributary_slowest_link_alpha_seconds")));
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.round_trip("far", 0.1);
    figures.uplink("far", 1e-8);
    figures.round_trip("narrow", 0.002);
    figures.uplink("narrow", 1e-6);
  }
  figures.round_trip("new", 10);
  figures.run_periodic_tasks();
  EXPECT_NEAR(metrics.gauges.at("tributary_slowest_link_alpha_seconds"), 0.05, 1e-4);
  EXPECT_NEAR(metrics.gauges.at("tributary_slowest_link_beta_seconds_per_byte"), 1e-6, 1e-8);
}

// Samples from probes are stored with the method `active`.
TEST_F(LinkFiguresTest, ProbeReadingsAreStoredAsProbes) {
  for (int i = 0; i < 10; ++i) {
    clock.advance(std::chrono::seconds(10));
    const double at_s = std::chrono::duration<double>(clock.now()).count();
    figures.probed(
        "a", {.direction = ProbeDirection::round_trip,
              .transfer = {
                  .kind = TransferKind::round_trip, .bytes = 1, .seconds = 0.02, .at_s = at_s}});
    for (const auto& [direction, rate] :
         {std::pair(ProbeDirection::up, 1e6), std::pair(ProbeDirection::down, 4e6)}) {
      figures.probed(
          "a",
          {.direction = direction,
           .transfer = {
               .kind = TransferKind::train, .bytes = 1e5, .seconds = 1e5 / rate, .at_s = at_s}});
    }
  }
  const MeasuredLinks measured = figures.measured_links("a");
  EXPECT_NEAR(measured.up.alpha_s.value, 0.01, 1e-4);
  EXPECT_NEAR(measured.up.beta_s_per_byte.value, 1e-6, 1e-8);
  EXPECT_NEAR(measured.down.beta_s_per_byte.value, 2.5e-7, 1e-9) << "ways are not mixed up";
  EXPECT_EQ(measured.down.alpha_s.value, measured.up.alpha_s.value);
  figures.close();
  std::map<std::pair<std::string, std::string>, LinkSampleRecord> last;
  for (const LinkSampleRecord& row : telemetry.take().link_samples) {
    EXPECT_EQ(row.method, wire::LinkMethod::active);
    last[{row.from, row.to}] = row;
  }
  EXPECT_NEAR((last[{"a", ""}].beta_s_per_byte), 1e-6, 1e-8);
  EXPECT_NEAR((last[{"", "a"}].alpha_s), 0.01, 1e-4) << "no heartbeat was measured";
  EXPECT_EQ(metrics.labeled.at("tributary_links_known alpha"), 1);
  EXPECT_EQ(metrics.labeled.at("tributary_links_known beta_up"), 1);
  EXPECT_EQ(metrics.labeled.at("tributary_links_known beta_down"), 1);
  EXPECT_EQ(metrics.labeled.at("tributary_links_known pair_beta"), 0);
}

// Valid reports are stored, and invalid ones are counted.
TEST_F(LinkFiguresTest, LinksThatAgentsReportAreKept) {
  wire::LinkSampleT beta;
  beta.from = "a";
  beta.beta_s_per_byte = 1e-6;
  beta.confidence = 0.75f;
  beta.age_ms = 5'000;
  wire::LinkSampleT nonsense;
  nonsense.from = "a";
  figures.reported({.agent_id = "b", .links = {beta, nonsense}});
  const TelemetryRows rows = telemetry.take();
  ASSERT_EQ(rows.link_samples.size(), 1u);
  EXPECT_EQ(rows.link_samples[0].from, "a");
  EXPECT_EQ(rows.link_samples[0].to, "b");
  EXPECT_EQ(rows.link_samples[0].beta_s_per_byte, 1e-6);
  EXPECT_EQ(rows.link_samples[0].confidence, 0.75);
  EXPECT_TRUE(std::isnan(rows.link_samples[0].alpha_s));
  EXPECT_EQ(metrics.counted.at("tributary_pair_links_ignored_total"), 1);
  figures.close();
  EXPECT_EQ(metrics.gauges.at("tributary_slowest_pair_beta_seconds_per_byte"), 1e-6);
  EXPECT_EQ(metrics.labeled.at("tributary_links_known pair_beta"), 1);
  EXPECT_EQ(metrics.labeled.at("tributary_links_known_age_max_seconds pair_beta"), 5);
}

TEST_F(LinkFiguresTest, ProbesAndTheirOutcomesAreCounted) {
  const std::vector<ProbeLink> sent = {
      {.agent_id = "a", .probe = 1, .parts = 8, .echo_padding_bytes = 1000},
      {.agent_id = "b", .probe = 2}};
  figures.probes_sent(sent, 0);
  figures.probes_sent({}, 2);
  figures.probes_sent({}, 2);
  figures.echo_ignored(EchoFault::late);
  EXPECT_EQ(metrics.counted.at("tributary_link_probes_total"), 2);
  EXPECT_EQ(metrics.counted.at("tributary_link_probe_bytes_total"), 8 * (1000 + 1024) + 1024);
  EXPECT_EQ(metrics.counted.at("tributary_link_probes_lost_total"), 2);
  EXPECT_EQ(metrics.refused.at("late"), 1);
}

TEST_F(LinkFiguresTest, HoldsSoManyAgents) {
  for (std::size_t i = 0; i < LinkFigures::kAgentsMax + 10; ++i) {
    figures.round_trip("agent " + std::to_string(i), 0.1);
  }
  EXPECT_EQ(figures.links().size(), LinkFigures::kAgentsMax);
  figures.close();
  EXPECT_LE(telemetry.take().link_samples.size(), LinkFigures::kAgentsMax);
}

}  // namespace
}  // namespace tributary
