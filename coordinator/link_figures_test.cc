#include "coordinator/link_figures.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace tributary {
namespace {

class CountedMetrics final : public Metrics {
 public:
  void count(std::string_view, const Labels& labels, double by) override {
    refused[labels.at("reason")] += by;
  }
  void set(std::string_view, double, const Labels&) override {}

  std::map<std::string, double> refused;
};

struct LinkFiguresTest : testing::Test {
  std::map<std::string, double> readings(std::uint64_t round) {
    std::map<std::string, double> out;
    for (const DatedReading& row : chronicle.take().metrics) {
      EXPECT_EQ(row.reading.round, round);
      out[std::string(row.reading.name)] = row.reading.value;
    }
    return out;
  }

  ManualClock clock;
  Chronicle chronicle{clock};
  CountedMetrics metrics;
  LinkFigures figures{metrics, chronicle};
};

TEST_F(LinkFiguresTest, ARoundHasWhatWasCarriedSinceTheOneBefore) {
  figures.round_published({.name = "round_s", .job = 1, .round = 1},
                          {.wire_bytes_in = 10, .wire_bytes_out = 20});
  EXPECT_EQ(readings(1),
            (std::map<std::string, double>{{"wire_bytes_up", 10}, {"wire_bytes_down", 20}}));
  figures.round_published({.name = "round_s", .job = 1, .round = 2},
                          {.wire_bytes_in = 15, .wire_bytes_out = 20});
  EXPECT_EQ(readings(2),
            (std::map<std::string, double>{{"wire_bytes_up", 5}, {"wire_bytes_down", 0}}));
}

TEST_F(LinkFiguresTest, ARefusalIsCountedOnce) {
  LinkCounters counters;
  counters.refused[static_cast<std::size_t>(RefusalReason::bad_parts)] = 3;
  figures.count_refusals(counters);
  figures.count_refusals(counters);
  ++counters.refused[static_cast<std::size_t>(RefusalReason::unknown_key)];
  figures.count_refusals(counters);
  EXPECT_EQ(metrics.refused, (std::map<std::string, double>{{"bad_parts", 3}, {"unknown_key", 1}}));
}

}  // namespace
}  // namespace tributary
