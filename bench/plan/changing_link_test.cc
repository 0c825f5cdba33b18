#include "bench/plan/changing_link.h"

#include <gtest/gtest.h>

#include "core/plan/inputs/inputs_testing.h"

namespace tributary::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A minute of a fast link, then a minute of a slow one.
ChangingLink world() {
  auto trace =
      LinkTrace::make({{.lasts = seconds(60), .bytes_per_s = 125'000'000, .delay = milliseconds(1)},
                       {.lasts = seconds(60), .bytes_per_s = 250'000, .delay = milliseconds(20)}});
  EXPECT_TRUE(trace.ok());
  return {.trace = *std::move(trace),
          .seconds_per_step = 1,
          .inputs = plan_testing::federation(100, 1),
          .gains = {plan_testing::heavy_tailed()}};
}

// Uncompressed values over a ring: fast only on a fast link.
PlanChoice dense() {
  return {.codec = "fp32", .collective = wire::Collective::ring, .bucket_values = 1u << 16};
}

TEST(ChangingLink, AFixedChoiceIsSlowWhereTheLinkIs) {
  const ChangingLink link = world();
  const double fast = gain_after(link, dense(), 60);
  const double both = gain_after(link, dense(), 120);
  EXPECT_GT(fast, 200);
  EXPECT_LT(both - fast, 5);  // each exchange takes 24 s
}

TEST(ChangingLink, AnExchangeThatOutlastsAChangeIsPartlySlow) {
  const ChangingLink link = world();
  const Course course = run_fixed(link, dense(), gain_after(link, dense(), 59) + 20);
  EXPECT_GT(course.seconds, 60);
  EXPECT_GT(course.rounds, 200u);
}

TEST(ChangingLink, WhoFollowsTheLinkIsThereBeforeEveryFixedChoice) {
  const ChangingLink link = world();
  const PlanChoice thc = {.codec = "thc:bits=4",
                          .collective = wire::Collective::sharded_star,
                          .bucket_values = 1u << 16};
  const double target = gain_after(link, thc, 240);
  const Course adaptive = run_adaptive(link, target);
  EXPECT_GE(adaptive.switches, 2u);
  EXPECT_EQ(adaptive.reasons.size(), adaptive.switches);
  for (const PlanChoice& fixed : {dense(), thc}) {
    EXPECT_LT(adaptive.seconds, run_fixed(link, fixed, target).seconds * 1.05) << fixed.codec;
  }
}

}  // namespace
}  // namespace tributary::bench
