#include "coordinator/journal/log_blockage.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

using std::chrono::seconds;

TEST(LogBlockage, IsReportedOnceWhenItHasLastedLongEnough) {
  LogBlockage blockage;
  EXPECT_FALSE(blockage.look(seconds(100), true));
  EXPECT_FALSE(blockage.look(seconds(129), true));
  EXPECT_TRUE(blockage.look(seconds(131), true));
  EXPECT_FALSE(blockage.look(seconds(200), true)) << "it is the same one";
}

// A log that is copied in time is short after the next transaction.
TEST(LogBlockage, EndsWithALogThatIsShortAgain) {
  LogBlockage blockage;
  EXPECT_FALSE(blockage.look(seconds(100), true));
  EXPECT_FALSE(blockage.look(seconds(129), false));
  EXPECT_FALSE(blockage.look(seconds(131), true));
  EXPECT_FALSE(blockage.look(seconds(160), true));
  EXPECT_TRUE(blockage.look(seconds(161), true));
  EXPECT_FALSE(blockage.look(seconds(162), false));
  EXPECT_FALSE(blockage.look(seconds(163), true));
  EXPECT_TRUE(blockage.look(seconds(193), true)) << "another one";
}

}  // namespace
}  // namespace tributary
