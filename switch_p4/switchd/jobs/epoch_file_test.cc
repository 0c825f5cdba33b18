#include "switch_p4/switchd/jobs/epoch_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "core/base/files/file.h"

namespace tributary::switchd {
namespace {

TEST(EpochFile, RemembersTheLastEpochOfEachJob) {
  const std::string path = testing::TempDir() + "epochs." + std::to_string(::getpid());
  {
    auto file = EpochFile::open(path);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->is_new(7, 0));
    ASSERT_TRUE(file->remember(7, 4).ok());
    ASSERT_TRUE(file->remember(8, 9).ok());
  }
  auto file = EpochFile::open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(file->is_new(7, 4));
  EXPECT_FALSE(file->is_new(7, 3));
  EXPECT_TRUE(file->is_new(7, 5));
  EXPECT_FALSE(file->is_new(8, 9));
  EXPECT_EQ(file->highest(7), 4u);
  EXPECT_EQ(file->highest(9), 0u);
  ASSERT_TRUE(write_file_atomically(path, bytes_of(std::string_view("7 x\n"))).ok());
  EXPECT_EQ(EpochFile::open(path).status().code(), StatusCode::corrupt_data);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace tributary::switchd
