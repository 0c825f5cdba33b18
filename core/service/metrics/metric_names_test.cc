// Tests of the names of metrics, including old names that are kept for one release.
#include "core/service/metrics/metric_names.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(MetricNames, OnlyPresentNamesAreLookedUp) {
  ASSERT_NE(metric_named("tributary_round_seconds"), nullptr);
  EXPECT_EQ(metric_named("tributary_round_seconds")->old_name, "tributary_round_s");
  EXPECT_EQ(metric_named("tributary_round_s"), nullptr);
  EXPECT_EQ(metric_named(""), nullptr);
  EXPECT_EQ(metric_named("tributary_zzz"), nullptr);
}

TEST(MetricNames, AReadingHasTheMetricOfItsNowOrOldName) {
  EXPECT_EQ(metric_of(ReadingKind::round_s).name, "tributary_round_seconds");
  EXPECT_EQ(metric_of(ReadingKind::round_s).help, facts_of(ReadingKind::round_s).help);
  EXPECT_EQ(metric_of(ReadingKind::agents).name, "tributary_agents");
  EXPECT_EQ(metric_of(ReadingKind::sends_dropped).name, "tributary_sends_dropped_total");
}

}  // namespace
}  // namespace tributary
