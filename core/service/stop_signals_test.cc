// Tests of the signals that stop a daemon. Each case runs in a process of its own.
#include "core/service/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace tributary {
namespace {

// The signals that were reported, in order.
class ReceivedSignals {
 public:
  void take(int signal) {
    const std::lock_guard lock(mutex_);
    signals_.push_back(signal);
    changed_.notify_all();
  }
  std::vector<int> first(std::size_t count) {  // waits for `count` signals
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return signals_.size() >= count; });
    return signals_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> signals_;
};

// Signals affect the whole process, so every case runs in a process of its own and reports its
// result by the exit code.
template <typename Case>
void in_a_process(Case run, const ::testing::ExitedWithCode& end) {
  ::testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_EXIT(
      {
        StopSignals::block();
        run();
      },
      end, "");
}

TEST(StopSignals, TheFirstIsReportedAndHangupsEveryTime) {
  in_a_process(
      [] {
        ReceivedSignals received;
        auto signals = StopSignals::open([&](int signal) { received.take(signal); });
        if (!signals.ok()) ::_exit(1);
        const std::vector<int> sent = {SIGHUP, SIGHUP, SIGTERM, SIGHUP};
        for (std::size_t i = 0; i < sent.size(); ++i) {
          ::kill(::getpid(), sent[i]);
          if (received.first(i + 1) !=
              std::vector<int>(sent.begin(), sent.begin() + 1 + static_cast<long>(i))) {
            ::_exit(2);
          }
        }
        signals->reset();  // ends its thread
        ::_exit(0);
      },
      ::testing::ExitedWithCode(0));
}

TEST(StopSignals, ASecondOneEndsTheProcessAtOnce) {
  for (const int second : {SIGTERM, SIGINT}) {
    in_a_process(
        [second] {
          ReceivedSignals received;
          const auto signals = StopSignals::open([&](int signal) { received.take(signal); });
          ::kill(::getpid(), SIGTERM);
          received.first(1);
          ::kill(::getpid(), second);
          while (true) ::pause();
        },
        ::testing::ExitedWithCode(128 + second));
  }
}

TEST(StopSignals, AWriteToAClosedPipeIsAnError) {
  in_a_process(
      [] {
        int ends[2];
        if (::pipe(ends) != 0) ::_exit(1);
        ::close(ends[0]);
        ::_exit(::write(ends[1], "x", 1) == -1 && errno == EPIPE ? 0 : 2);
      },
      ::testing::ExitedWithCode(0));
}

}  // namespace
}  // namespace tributary
