#include "switch_p4/switchd/group_watch.h"

#include <gtest/gtest.h>

namespace tributary::switchd {
namespace {

TEST(GroupWatch, LossesAndOneBurstOfRepeatsAreNoDeadPath) {
  GroupWatch watch;
  std::uint64_t resent = 0;
  for (std::uint64_t results = 1; results < 10'000; ++results) {
    resent += results % 2;
    watch.look(results, resent);
    ASSERT_TRUE(watch.uses_group()) << results;
  }
  EXPECT_EQ(watch.falls(), 0u);
}

TEST(GroupWatch, ADeadPathIsTriedAgainAfterPausesThatDouble) {
  GroupWatch watch;
  watch.look(32, 0);
  EXPECT_TRUE(watch.uses_group());
  watch.look(32, 32);
  EXPECT_FALSE(watch.uses_group());
  watch.look(32 + 1'023, 32);
  EXPECT_FALSE(watch.uses_group());
  watch.look(32 + 1'024, 32);
  EXPECT_TRUE(watch.uses_group());
  watch.look(1'088, 64);
  EXPECT_FALSE(watch.uses_group());
  EXPECT_EQ(watch.falls(), 2u);
  watch.look(1'088 + 2'047, 64);
  EXPECT_FALSE(watch.uses_group());
  watch.look(1'088 + 2'048, 64);
  EXPECT_TRUE(watch.uses_group());
}

TEST(GroupWatch, APathThatWorksAgainIsForgiven) {
  GroupWatch watch;
  watch.look(32, 32);
  watch.look(32 + 1'024, 32);
  watch.look(32 + 1'024 + 256, 32);  // a period without repeats
  watch.look(32 + 1'024 + 288, 64 + 32);
  EXPECT_FALSE(watch.uses_group());
  watch.look(32 + 1'024 + 288 + 1'024, 96);
  EXPECT_TRUE(watch.uses_group());
}

}  // namespace
}  // namespace tributary::switchd
