#include "core/net/mesh/reach_group.h"

#include <gtest/gtest.h>

#include "core/net/mesh/reach_testing.h"

namespace tributary {
namespace {

using reach_testing::kAnotherGroup;
using reach_testing::kDialled;
using reach_testing::kMalformed;
using reach_testing::kOneGroup;

TEST(ReachGroup, IsTheRunOfMpi) {
  EXPECT_EQ(*reach_group(kOneGroup[0]), *reach_group(kOneGroup[2]));
  EXPECT_NE(*reach_group(kOneGroup[0]), *reach_group(kAnotherGroup));
}

TEST(ReachGroup, IsTheSameForAllEndpointsThatAreDialled) {
  EXPECT_EQ(*reach_group(kDialled), *reach_group("tcp://[2001:db8::7]:4650"));
  EXPECT_NE(*reach_group(kDialled), *reach_group(kOneGroup[0]));
}

TEST(ReachGroup, IsNotThatOfAMalformedEndpoint) {
  EXPECT_EQ(reach_group(kMalformed).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
