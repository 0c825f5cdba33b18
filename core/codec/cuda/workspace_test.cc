// The pool of workspaces, on the emulated device and on a GPU.
#include "core/codec/cuda/workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/bytes/bytes.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

class WorkspacePool : public testing::Test {
 protected:
  void SetUp() override {
    const Status there = device_available();
    if (!there.ok()) GTEST_SKIP() << there.text();
  }

  // Takes a workspace, copies values to the device and back, and compares.
  void copy_there_and_back(std::size_t count, float first) {
    FloatVector values(count);
    std::iota(values.begin(), values.end(), first);
    FloatVector got(count, -1.0f);
    Result<Workspace> space = pool_.take();
    ASSERT_TRUE(space.ok()) << space.status().text();
    const auto copy = space->upload(std::span<const float>(values));
    ASSERT_TRUE(copy.ok()) << copy.status().text();
    const FloatVector expected = values;
    std::ranges::fill(values, 0.0f);  // an upload has read its values
    ASSERT_TRUE(space->download(*copy, std::span<float>(got)).ok());
    ASSERT_TRUE(space->wait().ok());
    ASSERT_TRUE(std::ranges::equal(got, expected)) << count;
  }

  Workspaces pool_;
};

// Sizes around the pieces of the GPU's copies, in an order in which its memory grows and does not.
TEST_F(WorkspacePool, CopiesEverySize) {
  for (const std::size_t count :
       {1u, 0u, 1000u, (2u << 20) / 4, (2u << 20) / 4 + 1, 3u, 5'000'000u, 2'000'000u}) {
    copy_there_and_back(count, static_cast<float>(count % 97));
  }
}

// Arrays of one call do not overlap, also where they exceed the memory of the calls before.
TEST_F(WorkspacePool, GivesEachArrayItsOwnMemory) {
  for (std::size_t call = 0; call < 3; ++call) {
    Result<Workspace> space = pool_.take();
    ASSERT_TRUE(space.ok()) << space.status().text();
    std::vector<std::vector<std::uint8_t>> expected;
    std::vector<const std::uint8_t*> arrays;
    for (std::size_t i = 0; i < 8; ++i) {
      expected.emplace_back(100'000 * (i + 1) + i, static_cast<std::uint8_t>(16 * call + i));
      const auto array = space->upload(std::span<const std::uint8_t>(expected.back()));
      ASSERT_TRUE(array.ok()) << array.status().text();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*array) % 256, 0u);
      arrays.push_back(*array);
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      std::vector<std::uint8_t> got(expected[i].size());
      ASSERT_TRUE(space->download(arrays[i], std::span<std::uint8_t>(got)).ok());
      ASSERT_TRUE(space->wait().ok());
      EXPECT_EQ(got, expected[i]) << i;
    }
  }
}

TEST_F(WorkspacePool, SharesABoundedNumberAmongThreads) {
  std::atomic<int> failed = 0;
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 2 * Workspaces::kWorkspacesMax; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 5; ++i) {
        copy_there_and_back(10'000 + 1000 * t + i, static_cast<float>(t));
        if (HasFailure()) ++failed;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
}

// A call that ends early gives its workspace back, and its downloads are not written.
TEST_F(WorkspacePool, DropsTheDownloadsOfACallThatEnded) {
  for (std::size_t i = 0; i < 2 * Workspaces::kWorkspacesMax; ++i) {
    auto values = std::make_unique<FloatVector>(1000, 1.0f);
    Result<Workspace> space = pool_.take();
    ASSERT_TRUE(space.ok()) << space.status().text();
    const auto copy = space->upload(std::span<const float>(*values));
    ASSERT_TRUE(copy.ok());
    ASSERT_TRUE(space->download(*copy, std::span<float>(*values)).ok());
    const Workspace moved = std::move(*space);
    values = nullptr;
  }
  copy_there_and_back(2000, 5);
}

TEST_F(WorkspacePool, MayEndBeforeItsWorkspaces) {
  std::optional<Workspaces> pool(std::in_place);
  Result<Workspace> space = pool->take();
  ASSERT_TRUE(space.ok()) << space.status().text();
  pool.reset();
  EXPECT_TRUE(space->array<float>(100).ok());
  EXPECT_TRUE(space->wait().ok());
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
