#include "tests/end_to_end/federation/small_disk.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/store/testing/folder_testing.h"
#include "core/store/testing/small_disk_testing.h"

namespace tributary::end_to_end {

void SmallDisk::fill() const {
  std::ofstream filler(folder_ + "/filler", std::ios::binary);
  const std::string block(4096, 'x');
  while (filler.write(block.data(), 4096).flush()) {
  }
}

void SmallDisk::free_space() const { std::filesystem::remove(folder_ + "/filler"); }

void on_small_disk(const std::function<void(const SmallDisk&)>& body) {
  const store_testing::Folder folder;
  const auto run = [&]() -> std::string {
    body(SmallDisk(folder / ""));
    return ::testing::Test::HasFailure() ? "failures, printed above" : "ok";
  };
  const store_testing::OnSmallDisk disk = store_testing::on_small_disk(folder / "", 8u << 20, run);
  if (!disk.skipped.empty()) GTEST_SKIP() << disk.skipped;
  EXPECT_EQ(disk.outcome, "ok");
}

}  // namespace tributary::end_to_end
