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
  void count(std::string_view name, const Labels& labels, double by) override {
    const std::string kind = labels.contains("cause") ? labels.at("cause") : labels.at("use");
    counted[std::string(name)][labels.at("direction") + " " + kind] += by;
  }
  void set(std::string_view name, double value, const Labels&) override {
    gauges[std::string(name)] = value;
  }

  std::map<std::string, std::map<std::string, double>> counted;
  std::map<std::string, double> gauges;
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

TEST(ReadingMetrics, OtherReadingsAreGaugesOfTheirName) {
  KeptMetrics metrics;
  publish({.kind = ReadingKind::round_s, .value = 1.5}, metrics);
  EXPECT_EQ(metrics.gauges, (std::map<std::string, double>{{"tributary_round_s", 1.5}}));
  EXPECT_TRUE(metrics.counted.empty());
}

TEST(ReadingMetrics, HelpIsThatOfTheReading) {
  EXPECT_EQ(metric_help("tributary_round_s"), facts_of(ReadingKind::round_s).help);
  EXPECT_NE(metric_help("tributary_message_bytes_total"), "");
  EXPECT_NE(metric_help("tributary_repeated_bytes_total"), "");
  EXPECT_EQ(metric_help("tributary_peers_in_bytes"), "") << "no reading";
  EXPECT_EQ(metric_help("round_s"), "") << "no metric";
}

}  // namespace
}  // namespace tributary
