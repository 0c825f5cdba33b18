// Tests of the thread that works through a bounded queue.
#include "core/service/loop/worker.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace tributary {
namespace {

// Work that lasts until it is released.
class Blocker {
 public:
  // Returns when the worker runs this work, so that it does not count as waiting.
  void occupy(Worker& worker) {
    worker.post([this] {
      began_.set_value();
      released_.get_future().wait();
    });
    began_.get_future().wait();
  }
  void release() { released_.set_value(); }

 private:
  std::promise<void> began_;
  std::promise<void> released_;
};

TEST(Worker, ThreadDoesAllInOrder) {
  std::vector<int> done;
  std::promise<void> all;
  Worker worker("test");
  for (int i = 0; i < 10; ++i) worker.post([&done, i] { done.push_back(i); });
  worker.post([&] { all.set_value(); });
  all.get_future().wait();
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Worker, ThreadHasItsName) {
  std::array<char, 16> name = {};
  {
    std::promise<void> done;
    Worker worker("trainer");
    worker.post([&] {
      ::pthread_getname_np(::pthread_self(), name.data(), name.size());
      done.set_value();
    });
    done.get_future().wait();
  }
  EXPECT_STREQ(name.data(), "trainer");
}

TEST(Worker, ThreadRefusesWorkAboveItsBound) {
  std::atomic<int> done = 0;
  std::promise<void> last;
  Blocker blocker;
  Worker worker("test", 2);
  blocker.occupy(worker);
  EXPECT_TRUE(worker.try_post([&] { ++done; }).ok());
  EXPECT_TRUE(worker.try_post([&] { last.set_value(); }).ok());
  const Status refused = worker.try_post([&] { done = 100; });
  EXPECT_EQ(refused.code(), StatusCode::resource_exhausted) << refused.text();
  blocker.release();
  last.get_future().wait();
  EXPECT_EQ(done, 1);
}

TEST(Worker, ThreadThatPostsAboveTheBoundWaits) {
  std::vector<int> done;
  std::promise<void> all;
  Blocker blocker;
  Worker worker("test", 1);
  blocker.occupy(worker);
  std::atomic<int> posted = 0;
  std::thread poster([&] {
    for (int i = 0; i < 5; ++i) {
      worker.post([&done, i] { done.push_back(i); });
      ++posted;
    }
    worker.post([&] { all.set_value(); });
  });
  while (posted < 1) std::this_thread::yield();
  EXPECT_FALSE(worker.try_post([] {}).ok()) << "one waits already";
  EXPECT_LE(posted, 1);
  blocker.release();
  all.get_future().wait();
  poster.join();
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace tributary
