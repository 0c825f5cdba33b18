// Tests of the streams of the emulated device: what a caller may read, and what it must wait for.
#include "core/codec/cuda/emulated/stream.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/launch.h"

namespace tributary::emulated {
namespace {

constexpr std::uint32_t kOrders = 40;

__global__ void add_one(std::uint32_t* value) {
  if (threadIdx.x == 0) *value += 1;
}
__global__ void double_it(std::uint32_t* value) {
  if (threadIdx.x == 0) *value *= 2;
}
__global__ void skip_a_barrier(std::uint32_t* value) {
  if (threadIdx.x > 0) __syncthreads();
  if (threadIdx.x == 0) *value = 1;
}

// Two streams and a value on the device, for one order of the operations.
class Streams {
 public:
  explicit Streams(std::uint32_t seed) {
    set_order_seed(seed);
    EXPECT_TRUE(value_.ok() && first_.ok() && second_.ok());
    copy(0);
    EXPECT_TRUE(first_->wait().ok());
  }
  void copy(std::uint32_t value) {
    source_ = value;
    EXPECT_TRUE(copy_to_device(*first_, &source_, sizeof(source_), value_->data()).ok());
  }
  void start(void (*kernel)(std::uint32_t*), const Queue& queue, const char* name) {
    EXPECT_TRUE(
        launch(kernel, {.kernel = name, .threads = 2, .stream = queue.stream()}, value_->data())
            .ok());
  }
  std::uint32_t value() const { return *value_->data(); }

  std::uint32_t source_ = 0;
  Result<Queue> first_ = Queue::make();
  Result<Queue> second_ = Queue::make();
  Result<DeviceArray<std::uint32_t>> value_ = DeviceArray<std::uint32_t>::make(1);
};

TEST(Stream, IsCompleteAfterAWaitAndPerhapsBefore) {
  std::uint32_t early = 0;
  for (std::uint32_t seed = 1; seed <= kOrders; ++seed) {
    Streams streams(seed);
    streams.start(add_one, *streams.first_, "add one");
    early += streams.value();
    EXPECT_TRUE(streams.first_->wait().ok());
    EXPECT_EQ(streams.value(), 1u);
  }
  EXPECT_GT(early, 0u);
  EXPECT_LT(early, kOrders);
}

TEST(Stream, KeepsItsOrder) {
  for (std::uint32_t seed = 1; seed <= kOrders; ++seed) {
    Streams streams(seed);
    streams.copy(5);
    streams.start(add_one, *streams.first_, "add one");
    streams.start(double_it, *streams.first_, "double it");
    EXPECT_TRUE(streams.first_->wait().ok());
    EXPECT_EQ(streams.value(), 12u);
  }
}

TEST(Stream, ReadsHostMemoryThatChangesBeforeTheWait) {
  std::uint32_t spoiled = 0;
  for (std::uint32_t seed = 1; seed <= kOrders; ++seed) {
    Streams streams(seed);
    streams.copy(5);
    streams.source_ = 6;
    EXPECT_TRUE(streams.first_->wait().ok());
    if (streams.value() == 6) ++spoiled;
  }
  EXPECT_GT(spoiled, 0u);
  EXPECT_LT(spoiled, kOrders);
}

// Without a wait between them, the work of two streams has both orders.
TEST(Stream, HasNoOrderWithAnotherOne) {
  std::uint32_t second_first = 0;
  for (std::uint32_t seed = 1; seed <= kOrders; ++seed) {
    for (const bool waits : {true, false}) {
      Streams streams(seed);
      streams.start(add_one, *streams.first_, "add one");
      if (waits) {
        EXPECT_TRUE(streams.first_->wait().ok());
      }
      streams.start(double_it, *streams.second_, "double it");
      EXPECT_TRUE(streams.second_->wait().ok());
      EXPECT_TRUE(streams.first_->wait().ok());
      if (waits) {
        EXPECT_EQ(streams.value(), 2u);
      } else if (streams.value() == 1) {
        ++second_first;
      }
    }
  }
  EXPECT_GT(second_first, 0u);
  EXPECT_LT(second_first, kOrders);
}

// The start of a kernel is no error, the wait is; the stream can be used again.
TEST(Stream, ReturnsTheErrorOfAKernelFromTheWait) {
  Streams streams(1);
  streams.start(skip_a_barrier, *streams.first_, "skips");
  streams.start(add_one, *streams.first_, "add one");
  EXPECT_EQ(streams.first_->wait().code(), StatusCode::mismatch);
  streams.copy(3);
  EXPECT_TRUE(streams.first_->wait().ok());
  EXPECT_EQ(streams.value(), 3u);
}

}  // namespace
}  // namespace tributary::emulated
