#include "coordinator/closed_loop/truth/link_line.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

// 1 Mbit/s is 125,000 bytes per second.
constexpr double kMegabitBytes = 125'000;

TEST(LinkLine, WithoutStepsHasNoLimit) {
  const LinkLine line;
  EXPECT_EQ(line.sent_at(3, 1e9), 3);
  EXPECT_EQ(line.latency_s(100), 0);
  EXPECT_EQ(line.next_change_s(5), LinkLine::kNever);
}

TEST(LinkLine, StepsRepeat) {
  const LinkLine line(std::vector<LinkStep>{{.seconds = 2, .rate_mbit_s = 1, .delay_ms = 5},
                                            {.seconds = 3, .rate_mbit_s = 10, .delay_ms = 50}});
  EXPECT_DOUBLE_EQ(line.seconds_per_byte(1), 8e-6);
  EXPECT_DOUBLE_EQ(line.seconds_per_byte(2), 8e-7);
  EXPECT_DOUBLE_EQ(line.latency_s(6.9), 5e-3);
  EXPECT_DOUBLE_EQ(line.latency_s(7.1), 50e-3);
  EXPECT_DOUBLE_EQ(line.next_change_s(1), 2);
  EXPECT_DOUBLE_EQ(line.next_change_s(6), 7);
}

TEST(LinkLine, BeginsWithinTheSteps) {
  const LinkLine line(
      std::vector<LinkStep>{{.seconds = 2, .rate_mbit_s = 1}, {.seconds = 3, .rate_mbit_s = 10}},
      2);
  EXPECT_DOUBLE_EQ(line.seconds_per_byte(0), 8e-7);
  EXPECT_DOUBLE_EQ(line.next_change_s(0), 3);
}

// A second at 1 Mbit/s and a second at 10 Mbit/s.
TEST(LinkLine, TransferThatSpansAChangeContinuesAtTheNewRate) {
  const LinkLine line(
      std::vector<LinkStep>{{.seconds = 2, .rate_mbit_s = 1}, {.seconds = 3, .rate_mbit_s = 10}});
  EXPECT_NEAR(line.sent_at(1, 11 * kMegabitBytes), 3, 1e-9);
  EXPECT_NEAR(line.sent_at(1, 0.5 * kMegabitBytes), 1.5, 1e-9);
}

// 32 megabits per period of 5 s.
TEST(LinkLine, TransferMaySpanManyPeriods) {
  const LinkLine line(
      std::vector<LinkStep>{{.seconds = 2, .rate_mbit_s = 1}, {.seconds = 3, .rate_mbit_s = 10}});
  EXPECT_NEAR(line.sent_at(0, 100 * 32 * kMegabitBytes), 500, 1e-6);
}

TEST(LinkLine, FrozenKeepsOneState) {
  const LinkLine line(std::vector<LinkStep>{{.seconds = 2, .rate_mbit_s = 1, .delay_ms = 5},
                                            {.seconds = 3, .rate_mbit_s = 10, .delay_ms = 50}});
  const LinkLine frozen = line.frozen(2.5);
  EXPECT_DOUBLE_EQ(frozen.seconds_per_byte(0), 8e-7);
  EXPECT_DOUBLE_EQ(frozen.latency_s(1000), 50e-3);
  EXPECT_EQ(frozen.next_change_s(1), LinkLine::kNever);
}

}  // namespace
}  // namespace tributary
