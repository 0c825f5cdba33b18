// Tests of the bound on received bytes that the daemon has not handled yet.
#include "core/service/peers/unread_bytes.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(UnreadBytes, OneMessageMayPassTheBoundAndNoMore) {
  UnreadBytes unread(3000);
  unread.hand_out(2999);
  EXPECT_TRUE(unread.has_space());
  unread.hand_out(5000);
  EXPECT_FALSE(unread.has_space());
  EXPECT_EQ(unread.bytes(), 7999u);
}

TEST(UnreadBytes, ThereIsSpaceAgainBelowTheBound) {
  UnreadBytes unread(10);
  unread.hand_out(10);
  EXPECT_FALSE(unread.has_space());
  unread.let_go(1);
  EXPECT_TRUE(unread.has_space());
  unread.let_go(9);
  EXPECT_EQ(unread.bytes(), 0u);
}

TEST(UnreadBytes, WithoutSpaceNothingIsRead) { EXPECT_FALSE(UnreadBytes(0).has_space()); }

}  // namespace
}  // namespace tributary
