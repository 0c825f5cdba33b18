#include "core/service/metrics/repeated_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tributary {
namespace {

class CountedMetrics : public Metrics {
 public:
  void count(std::string_view name, const Labels& labels, double by) override {
    EXPECT_EQ(name, "tributary_repeated_bytes_total");
    counted[labels.at("direction") + " " + labels.at("cause")] += by;
  }
  void set(std::string_view, double, const Labels&) override {}

  std::map<std::string, double> counted;
};

TEST(RepeatedMetrics, EachReadingIsACauseOfItsDirection) {
  CountedMetrics metrics;
  double bytes = 0;
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    EXPECT_TRUE(count_repeated_bytes({.name = field.reading, .value = ++bytes}, metrics));
  }
  EXPECT_TRUE(count_repeated_bytes({.name = "repeated_up_late_bytes", .value = 100}, metrics));
  const std::map<std::string, double> expected = {{"up lost", 1},      {"down lost", 2},
                                                  {"down session", 3}, {"up known", 4},
                                                  {"up late", 105},    {"up no_room", 6}};
  EXPECT_EQ(metrics.counted, expected);
}

TEST(RepeatedMetrics, OtherReadingsAreLeftToOthers) {
  CountedMetrics metrics;
  EXPECT_FALSE(count_repeated_bytes({.name = "round_s", .value = 1}, metrics));
  EXPECT_TRUE(metrics.counted.empty());
}

}  // namespace
}  // namespace tributary
