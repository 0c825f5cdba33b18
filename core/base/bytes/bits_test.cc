// Tests of counting bits.
#include "core/base/bytes/bits.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(Bits, CountTheBitsOfAValue) {
  EXPECT_EQ(bits_for(0), 0u);
  EXPECT_EQ(bits_for(1), 1u);
  EXPECT_EQ(bits_for(255), 8u);
  EXPECT_EQ(bits_for(256), 9u);
}

}  // namespace
}  // namespace tributary
