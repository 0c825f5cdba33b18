// Tests of the allowance for echoes, which bounds the bytes that a peer can request.
#include "core/link_quality/echo_allowance.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

// The burst covers one train. Afterwards a second allows kBytesPerS bytes, exactly.
TEST(EchoAllowance, ATrainAtOnceAndThenASmallRate) {
  EchoAllowance allowance;
  EXPECT_TRUE(allowance.take(100, EchoAllowance::kBurstBytes));
  EXPECT_FALSE(allowance.take(100, 1));
  EXPECT_FALSE(allowance.take(101, EchoAllowance::kBytesPerS + 1));
  EXPECT_TRUE(allowance.take(101, EchoAllowance::kBytesPerS)) << "what was refused costs nothing";
  EXPECT_FALSE(allowance.take(101, 1));
}

// The allowance never exceeds the burst, however long the pause.
TEST(EchoAllowance, RestIsNotSavedUp) {
  EchoAllowance allowance;
  EXPECT_TRUE(allowance.take(0, 1));
  EXPECT_FALSE(allowance.take(1e6, EchoAllowance::kBurstBytes + 1));
  EXPECT_TRUE(allowance.take(1e6, EchoAllowance::kBurstBytes));
}

// A sender controls the bytes that it asks for but not the receiver's clock; a step of the clock
// must not refill the allowance.
TEST(EchoAllowance, ABackwardClockGivesNothing) {
  EchoAllowance allowance;
  EXPECT_TRUE(allowance.take(1000, EchoAllowance::kBurstBytes));
  EXPECT_FALSE(allowance.take(0, 1));
  EXPECT_FALSE(allowance.take(1000, 1));
}

}  // namespace
}  // namespace tributary
