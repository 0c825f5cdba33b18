#include "core/store/database/free_space.h"

#include <gtest/gtest.h>

#include "core/store/testing/folder_testing.h"

namespace tributary::store_testing {
namespace {

TEST(LogBytesAllowed, FollowTheFreeSpace) {
  EXPECT_EQ(log_bytes_allowed(64u << 20, kSpaceUnknown), 64u << 20);
  EXPECT_EQ(log_bytes_allowed(64u << 20, std::uint64_t{1} << 40), 64u << 20);
  EXPECT_EQ(log_bytes_allowed(64u << 20, 20u << 20), 10u << 20);
  EXPECT_EQ(log_bytes_allowed(64u << 20, 0), 0u);
}

TEST(FreeSpace, IsThatOfTheFolder) {
  const Folder folder;
  EXPECT_GT(free_space_of(folder / "new.db"), 0u);
  EXPECT_NE(free_space_of(folder / "new.db"), kSpaceUnknown);
  EXPECT_EQ(free_space_of(folder / "no/new.db"), kSpaceUnknown);
}

}  // namespace
}  // namespace tributary::store_testing
