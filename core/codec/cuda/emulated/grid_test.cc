#include "core/codec/cuda/emulated/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/launch.h"

namespace tributary::emulated {
namespace {

constexpr std::uint32_t kSeeds[] = {1, 2, 3, 4};

std::uint32_t add_one(std::uint32_t* at) { return __atomic_fetch_add(at, 1u, __ATOMIC_RELAXED); }

__global__ void count_visits(std::uint32_t* visits) {
  add_one(visits + blockIdx.x * blockDim.x + threadIdx.x);
  add_one(visits + gridDim.x * blockDim.x);
}

TEST(Grid, RunsEveryThreadOnce) {
  std::vector<std::uint32_t> visits(7 * 96 + 1);
  ASSERT_TRUE(
      launch(count_visits, {.kernel = "count", .grid = 7, .threads = 96}, visits.data()).ok());
  EXPECT_EQ(visits.back(), 7u * 96u);
  visits.pop_back();
  EXPECT_TRUE(std::ranges::all_of(visits, [](std::uint32_t count) { return count == 1; }));
}

__global__ void note_order(std::uint32_t* next, std::uint32_t* places) {
  places[blockIdx.x * blockDim.x + threadIdx.x] = add_one(next);
}

std::vector<std::uint32_t> order_with(std::uint32_t seed) {
  set_order_seed(seed);
  std::vector<std::uint32_t> places(5 * 64);
  std::uint32_t next = 0;
  EXPECT_TRUE(
      launch(note_order, {.kernel = "order", .grid = 5, .threads = 64}, &next, places.data()).ok());
  return places;
}

TEST(Grid, SeedDrawsTheOrder) {
  const auto first = order_with(1);
  const auto other = order_with(2);
  EXPECT_FALSE(std::ranges::is_sorted(first));
  EXPECT_NE(first, other);
#ifndef TRIBUTARY_GRID_OF_TWO_THREADS  // with it two OS threads share the blocks
  EXPECT_EQ(order_with(1), first);
#endif
  auto sorted = first;
  std::ranges::sort(sorted);
  std::vector<std::uint32_t> all(first.size());
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_EQ(sorted, all);
}

// Each thread writes its own place of shared memory and reads another one's, twice.
__global__ void pass_on(std::uint32_t* sums) {
  __shared__ std::uint32_t values[128];
  std::uint32_t value = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned turn = 0; turn < 2; ++turn) {
    values[threadIdx.x] = value;
    __syncthreads();
    value += values[(threadIdx.x + 37) % blockDim.x];
    __syncthreads();
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

TEST(Grid, BarriersOrderSharedMemory) {
  for (const std::uint32_t seed : kSeeds) {
    set_order_seed(seed);
    std::vector<std::uint32_t> sums(3 * 128);
    ASSERT_TRUE(
        launch(pass_on, {.kernel = "pass on", .grid = 3, .threads = 128}, sums.data()).ok());
    for (std::uint32_t i = 0; i < sums.size(); ++i) {
      const std::uint32_t base = i / 128 * 128;
      const auto at = [&](std::uint32_t steps) { return base + (i - base + steps) % 128; };
      ASSERT_EQ(sums[i], at(0) + 2 * at(37) + at(74)) << i;
    }
  }
}

struct WarpResults {
  std::uint32_t from_5;
  float from_other;
  std::uint32_t largest;
};

__global__ void use_warp_functions(WarpResults* results) {
  const unsigned i = threadIdx.x;
  WarpResults& result = results[i];
  result.from_5 = __shfl_sync(0xffffffffu, i * 3, 5);
  result.from_other = __shfl_xor_sync(0xffffffffu, static_cast<float>(i) + 0.5f, 9);
  result.largest = __reduce_max_sync(0xffffffffu, i ^ 21u);
}

TEST(Grid, WarpFunctionsReadOtherLanes) {
  for (const std::uint32_t seed : kSeeds) {
    set_order_seed(seed);
    std::vector<WarpResults> results(64);
    ASSERT_TRUE(
        launch(use_warp_functions, {.kernel = "warps", .threads = 64}, results.data()).ok());
    for (unsigned i = 0; i < results.size(); ++i) {
      const unsigned warp = i / 32 * 32;
      EXPECT_EQ(results[i].from_5, (warp + 5) * 3);
      EXPECT_EQ(results[i].from_other, static_cast<float>(i ^ 9u) + 0.5f);
      EXPECT_EQ(results[i].largest, warp + 31);
    }
  }
}

// --- what no GPU runs ---

__global__ void some_skip_barrier(int) {
  if (threadIdx.x < 40) __syncthreads();
}
__global__ void two_barriers(int) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}
__global__ void some_skip_warp_function(std::uint32_t* out) {
  if (threadIdx.x != 3) *out = __reduce_max_sync(0xffffffffu, threadIdx.x);
}
__global__ void two_warp_functions(std::uint32_t* out) {
  if (threadIdx.x % 2 == 0) {
    atomicMax(out, __reduce_max_sync(0xffffffffu, threadIdx.x));
  } else {
    atomicMax(out, __reduce_max_sync(0xffffffffu, threadIdx.x));
  }
}
__global__ void half_a_mask(std::uint32_t* out) {
  atomicMax(out, __reduce_max_sync(0xffffu, threadIdx.x));
}
__global__ void whole_mask(std::uint32_t* out) {
  atomicMax(out, __reduce_max_sync(0xffffffffu, threadIdx.x));
}
__global__ void nothing(int) {}

void expect_refusal(const Status& status, StatusCode code, const char* text) {
  EXPECT_EQ(status.code(), code) << status.text();
  EXPECT_NE(status.text().find(text), std::string::npos) << status.text();
  // The fibers of the abandoned block run the next one.
  std::uint32_t largest = 0;
  EXPECT_TRUE(launch(whole_mask, {.kernel = "whole", .threads = 96}, &largest).ok());
  EXPECT_EQ(largest, 95u);
}

TEST(Grid, BarriersThatSomeThreadsSkipAreErrors) {
  expect_refusal(launch(some_skip_barrier, {.kernel = "skips", .threads = 64}, 0),
                 StatusCode::mismatch, "kernel skips, block 0: expected a barrier that all");
  expect_refusal(launch(two_barriers, {.kernel = "two", .threads = 64}, 0), StatusCode::mismatch,
                 "one barrier for all threads, got lines");
}

TEST(Grid, WarpFunctionsThatSomeLanesSkipAreErrors) {
  std::uint32_t out = 0;
  expect_refusal(launch(some_skip_warp_function, {.kernel = "skips", .threads = 32}, &out),
                 StatusCode::mismatch, "a warp function that all lanes reach");
  expect_refusal(launch(two_warp_functions, {.kernel = "two", .threads = 32}, &out),
                 StatusCode::mismatch, "a warp function that all lanes reach");
}

TEST(Grid, PartsOfWarpsAreErrors) {
  std::uint32_t out = 0;
  expect_refusal(launch(half_a_mask, {.kernel = "half", .threads = 32}, &out),
                 StatusCode::unsupported, "expected the full mask, got 0xffff");
  expect_refusal(launch(whole_mask, {.kernel = "whole", .threads = 40}, &out),
                 StatusCode::unsupported, "expected a warp of 32 threads, got 8");
}

TEST(Grid, ShapesThatNoGpuTakesAreErrors) {
  const auto launched = [](const LaunchShape& shape) { return launch(nothing, shape, 0); };
  expect_refusal(launched({.kernel = "none", .grid = 0}), StatusCode::invalid_argument,
                 "kernel none, blocks: expected 1 to 2147483647, got 0");
  expect_refusal(launched({.kernel = "none", .grid = 0x80000000u}), StatusCode::invalid_argument,
                 "got 2147483648");
  expect_refusal(launched({.kernel = "none", .threads = 0}), StatusCode::invalid_argument,
                 "threads of a block: expected 1 to 1024, got 0");
  expect_refusal(launched({.kernel = "none", .threads = 1025}), StatusCode::invalid_argument,
                 "got 1025");
}

TEST(Grid, OsThreadsRunGridsAtOnce) {
  std::vector<std::vector<std::uint32_t>> sums(3, std::vector<std::uint32_t>(128));
  std::vector<std::thread> threads;
  for (auto& each : sums) {
    threads.emplace_back([&each] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(
            launch(pass_on, {.kernel = "pass on", .grid = 1, .threads = 128}, each.data()).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
  EXPECT_EQ(sums[0][1], 1u + 2 * 38u + 75u);
}

}  // namespace
}  // namespace tributary::emulated
