// Tests of the part of a gradient that is final while the backward pass still runs; it grows from
// the end.
#include "core/train/ready_tail.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(ReadyTail, GrowsFromTheEnd) {
  ReadyTail tail(10);
  EXPECT_EQ(tail.first_value(), 10u);
  tail.add(7, 3);
  EXPECT_EQ(tail.first_value(), 7u);
  tail.add(0, 7);
  EXPECT_EQ(tail.first_value(), 0u);
}

TEST(ReadyTail, WaitsForMissingRangesBetween) {
  ReadyTail tail(10);
  tail.add(2, 3);
  tail.add(5, 1);
  EXPECT_EQ(tail.first_value(), 10u);
  tail.add(6, 4);
  EXPECT_EQ(tail.first_value(), 2u);
}

TEST(ReadyTail, EmptyRangesAreNoMatter) {
  ReadyTail tail(4);
  tail.add(4, 0);
  tail.add(2, 2);
  EXPECT_EQ(tail.first_value(), 2u);
}

}  // namespace
}  // namespace tributary
