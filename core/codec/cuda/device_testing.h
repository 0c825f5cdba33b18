// The fixture of tests that run kernels on a device, and are skipped with the reason if it is not
// available. The same tests are built for the emulated device and, where nvcc is, for a GPU.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/cuda/workspace.h"

namespace tributary::TRIBUTARY_DEVICE {

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const Status available = device_available();
    if (!available.ok()) GTEST_SKIP() << available.text();
    queue_ = queue_of(kGridBlocks);
    narrow_queue_ = queue_of(2);
  }

  // A grid of the usual size, and one whose blocks take several turns.
  const Queue& queue() const { return *queue_; }
  const Queue& narrow_queue() const { return *narrow_queue_; }
  std::vector<const Queue*> queues() const { return {&queue(), &narrow_queue()}; }

  // Waits for the work that `started` says has been added to the queue.
  static void wait(const Queue& queue, Status started) {
    if (started.ok()) started = queue.wait();
    EXPECT_TRUE(started.ok()) << started.text();
  }

  Workspaces& workspaces() { return workspaces_; }
  Workspace space() {
    auto space = workspaces_.take();
    EXPECT_TRUE(space.ok()) << space.status().text();
    return std::move(*space);
  }

  template <typename T>
  DeviceArray<T> on_device(std::span<const T> host) const {
    auto array = DeviceArray<T>::copy_of(queue(), host);
    EXPECT_TRUE(array.ok()) << array.status().text();
    return std::move(*array);
  }
  template <typename T>
  DeviceArray<T> zeros(std::size_t count) const {
    return on_device<T>(RawVector<T>(count, T{}));
  }
  // Copies the array to the host, after all earlier work in the queue.
  template <typename T>
  static RawVector<T> on_host(const Queue& queue, const DeviceArray<T>& array) {
    RawVector<T> host(array.size());
    const Status status = array.read(queue, host);
    EXPECT_TRUE(status.ok()) << status.text();
    return host;
  }

 private:
  static std::optional<Queue> queue_of(unsigned grid_blocks) {
    auto queue = Queue::make(grid_blocks);
    EXPECT_TRUE(queue.ok()) << queue.status().text();
    return std::move(*queue);
  }

  std::optional<Queue> queue_;
  std::optional<Queue> narrow_queue_;
  Workspaces workspaces_;
};

}  // namespace tributary::TRIBUTARY_DEVICE
