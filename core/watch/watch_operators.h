// Passes operators' questions of observers to the coordinator on a thread of its own. The
// coordinator may need time for an answer, and other observers must not wait for it.
//
// It owns the thread. Questions are answered in order, one at a time, and at most kWaitingMax wait.
// `ask` reports errors within its answer; no exception may leave it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/net/transport.h"

namespace tributary {

class WatchOperators {
 public:
  static constexpr std::size_t kWaitingMax = 8;

  struct Answered {
    ConnectionId connection = 0;
    std::uint64_t number = 0;
    std::string json = {};
  };

  // Both functions are called on this object's thread. `ask` may block; `answered` must not.
  WatchOperators(std::function<std::string(std::string_view)> ask, std::function<void()> answered);
  // Waits for the answer in progress and drops the questions behind it.
  ~WatchOperators();
  WatchOperators(const WatchOperators&) = delete;
  WatchOperators& operator=(const WatchOperators&) = delete;

  // Queues a question. Any thread may call it. Returns false if kWaitingMax questions wait.
  bool ask(ConnectionId connection, std::uint64_t number, std::string json);
  // Returns the answers since the last call. Any thread may call it.
  std::vector<Answered> take();

 private:
  void work();

  const std::function<std::string(std::string_view)> ask_;
  const std::function<void()> answered_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Answered> asked_;  // `json` contains the question
  std::vector<Answered> answers_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tributary
