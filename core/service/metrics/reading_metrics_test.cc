// Tests of publishing readings as metrics: direction, cause and job become labels.
#include "core/service/metrics/reading_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/round/common/machine/message_bytes.h"
#include "core/round/common/machine/repeated_bytes.h"

namespace tributary {
namespace {

class KeptMetrics : public Metrics {
 public:
  void count(std::string_view name, const Labels& of, double by) override {
    const std::string kind = of.contains("cause") ? of.at("cause") : of.at("use");
    counted[std::string(name)][of.at("direction") + " " + kind] += by;
    labels = of;
  }
  void set(std::string_view name, double value, const Labels& of) override {
    gauges[std::string(name)] = value;
    labels = of;
  }

  std::map<std::string, std::map<std::string, double>> counted;
  std::map<std::string, double> gauges;
  Labels labels;  // of the last call
};

TEST(ReadingMetrics, EachRepeatedReadingIsACauseOfItsDirection) {
  KeptMetrics metrics;
  double bytes = 0;
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    publish({.kind = field.reading, .value = ++bytes}, metrics);
  }
  publish({.kind = ReadingKind::repeated_up_late_bytes, .value = 100}, metrics);
  const std::map<std::string, double> expected = {{"up lost", 1},      {"down lost", 2},
                                                  {"down session", 3}, {"up known", 4},
                                                  {"up late", 105},    {"up no_room", 6}};
  EXPECT_EQ(metrics.counted.at("tributary_repeated_bytes_total"), expected);
  EXPECT_EQ(metrics.counted.size(), 1u);
  EXPECT_TRUE(metrics.gauges.empty());
}

TEST(ReadingMetrics, BytesOfMessagesAreCountedByDirectionAndUse) {
  KeptMetrics metrics;
  for (const MessageUseNames& names : kMessageUseNames) {
    publish({.kind = names.up, .value = 1}, metrics);
    publish({.kind = names.down, .value = 2}, metrics);
  }
  publish({.kind = ReadingKind::down_models_bytes, .value = 40}, metrics);
  const auto& counted = metrics.counted.at("tributary_message_bytes_total");
  EXPECT_EQ(counted.size(), 2 * kMessageUses);
  EXPECT_EQ(counted.at("up updates"), 1);
  EXPECT_EQ(counted.at("down models"), 42);
  EXPECT_TRUE(metrics.gauges.empty());
}

TEST(ReadingMetrics, OtherReadingsHaveTheirMetric) {
  KeptMetrics metrics;
  publish({.kind = ReadingKind::round_s, .value = 1.5}, metrics);
  publish({.kind = ReadingKind::link_in_bytes, .value = 7}, metrics);
  EXPECT_EQ(metrics.gauges, (std::map<std::string, double>{{"tributary_round_seconds", 1.5},
                                                           {"tributary_link_in_bytes_total", 7}}));
  EXPECT_TRUE(metrics.counted.empty());
}

TEST(ReadingMetrics, ReadingsOfOneLinkHaveNoMetric) {
  KeptMetrics metrics;
  publish({.kind = ReadingKind::round_trip_s, .value = 1.5, .agent_id = "a"}, metrics);
  EXPECT_TRUE(metrics.gauges.empty());
}

TEST(ReadingMetrics, TheJobIsALabel) {
  KeptMetrics metrics;
  publish({.kind = ReadingKind::round_s, .value = 1}, metrics, "digits");
  EXPECT_EQ(metrics.labels, (Labels{{"job", "digits"}}));
  publish({.kind = ReadingKind::up_updates_bytes, .value = 1}, metrics, "digits");
  EXPECT_EQ(metrics.labels, (Labels{{"direction", "up"}, {"job", "digits"}, {"use", "updates"}}));
  publish({.kind = ReadingKind::repeated_up_late_bytes, .value = 1}, metrics, "digits");
  EXPECT_EQ(metrics.labels, (Labels{{"cause", "late"}, {"direction", "up"}, {"job", "digits"}}));
  publish({.kind = ReadingKind::agents, .value = 1}, metrics);
  EXPECT_EQ(metrics.labels, Labels{});
}

}  // namespace
}  // namespace tributary
