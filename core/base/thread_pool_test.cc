// Tests of loops over a pool of threads: every index once, nested loops, exceptions, and several
// callers.
#include "core/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <latch>
#include <numeric>
#include <stdexcept>
#include <string>

namespace tributary {
namespace {

TEST(FunctionRef, CallsItsFunction) {
  int calls = 0;
  auto counter = [&calls](int by) { return calls += by; };
  const FunctionRef<int(int)> ref = counter;
  EXPECT_EQ(ref(2), 2);
  EXPECT_EQ(ref(3), 5);
  EXPECT_EQ(calls, 5);
}

TEST(FunctionRef, KeepsTheStateOfItsObject) {
  struct Sum {
    int total = 0;
    void operator()(int x) { total += x; }
  } sum;
  const FunctionRef<void(int)> ref = sum;
  const FunctionRef<void(int)> copy = ref;
  ref(1);
  copy(2);
  EXPECT_EQ(sum.total, 3);
}

TEST(ThreadPool, CallsTheBodyOnceForEveryIndex) {
  for (std::size_t threads : {0u, 1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads);
    for (std::size_t count : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 1000u}) {
      // Plain ints: the thread sanitizer reports a race if two calls have the same index, or if a
      // result is not visible to the caller.
      std::vector<int> calls(count, 0);
      pool.parallel_for(count, [&](std::size_t i) { ++calls[i]; });
      EXPECT_EQ(calls, std::vector<int>(count, 1)) << threads << " threads";
    }
  }
}

TEST(ThreadPool, RunsInlineAndInOrderWithOneThread) {
  ThreadPool pool(1);
  EXPECT_EQ(pool.threads(), 1u);
  std::vector<std::size_t> order;
  pool.parallel_for(5, [&, caller = std::this_thread::get_id()](std::size_t i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(ThreadPool, RunsBodiesAtTheSameTime) {
  ThreadPool pool(4);
  EXPECT_EQ(pool.threads(), 4u);
  // Each body waits for all others, which never ends with fewer than four threads.
  std::latch all_here(4);
  pool.parallel_for(4, [&](std::size_t) { all_here.arrive_and_wait(); });
}

// If another loop occupies every worker, a loop is executed by its caller alone.
TEST(ThreadPool, CallerNeedsNoWorker) {
  ThreadPool pool(2);
  std::latch held(2);
  std::latch release(1);
  std::thread holder([&] {
    pool.parallel_for(2, [&](std::size_t) {
      held.count_down();
      release.wait();
    });
  });
  held.wait();
  std::vector<int> calls(100, 0);
  pool.parallel_for(calls.size(), [&](std::size_t i) { ++calls[i]; });
  EXPECT_EQ(calls, std::vector<int>(100, 1));
  release.count_down();
  holder.join();
}

// Three levels of loops on few threads would deadlock if callers waited for free workers.
TEST(ThreadPool, NestsLoops) {
  for (std::size_t threads : {1u, 2u, 4u}) {
    ThreadPool pool(threads);
    std::atomic<int> calls = 0;
    pool.parallel_for(8, [&](std::size_t) {
      pool.parallel_for(8, [&](std::size_t) {
        pool.parallel_for(8, [&](std::size_t) { calls.fetch_add(1, std::memory_order_relaxed); });
      });
    });
    EXPECT_EQ(calls, 8 * 8 * 8);
  }
}

// Every caller must see the writes of its own bodies before its loop returns.
TEST(ThreadPool, AcceptsSeveralCallersAtOnce) {
  ThreadPool pool(3);
  constexpr std::size_t kCallers = 4;
  constexpr std::size_t kLoops = 200;
  std::vector<std::size_t> sums(kCallers, 0);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&pool, &sum = sums[caller]] {
      for (std::size_t loop = 0; loop < kLoops; ++loop) {
        std::vector<std::size_t> results(10);
        pool.parallel_for(results.size(), [&](std::size_t i) { results[i] = i + loop; });
        sum = std::accumulate(results.begin(), results.end(), sum);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  const std::size_t expected = kLoops * 45 + 10 * (kLoops * (kLoops - 1) / 2);
  EXPECT_EQ(sums, std::vector<std::size_t>(kCallers, expected));
}

TEST(ThreadPool, RethrowsAnExceptionAndContinues) {
  for (std::size_t threads : {1u, 4u}) {
    ThreadPool pool(threads);
    std::atomic<std::size_t> calls = 0;
    const auto fail_at_ten = [&](std::size_t i) {
      ++calls;
      if (i == 10) throw std::runtime_error("index 10");
    };
    constexpr std::size_t kMany = std::size_t{1} << 60;  // would not end unless the rest is dropped
    try {
      pool.parallel_for(kMany, fail_at_ten);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "index 10");
    }
    EXPECT_LT(calls, kMany);

    calls = 0;
    pool.parallel_for(5, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 5u);
  }
}

// All bodies throw at the same time; one exception arrives and the others are dropped.
TEST(ThreadPool, ThrowsOnceWhenAllBodiesDo) {
  ThreadPool pool(4);
  std::latch all_here(4);
  const auto fail = [&](std::size_t i) {
    all_here.arrive_and_wait();
    throw i;
  };
  EXPECT_THROW(pool.parallel_for(4, fail), std::size_t);
}

TEST(ThreadPool, StartsAndEndsWithoutWork) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

// Containers and taskset limit the processors by this mask.
TEST(HardwareThreads, FollowsTheAffinityMask) {
  EXPECT_GE(hardware_threads(), 1u);
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(hardware_threads(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(hardware_threads(), static_cast<std::size_t>(CPU_COUNT(&before)));
}

}  // namespace
}  // namespace tributary
