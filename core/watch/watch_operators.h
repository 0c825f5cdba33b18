// Operators' questions of watchers on their way to the coordinator, which may take its time: on a
// thread of their own, so that nobody who only watches waits for them.
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

  // `ask` may wait and `answered` may not; both are called on this thread.
  WatchOperators(std::function<std::string(std::string_view)> ask, std::function<void()> answered);
  // Waits for the answer that is being made, and drops what waits behind it.
  ~WatchOperators();
  WatchOperators(const WatchOperators&) = delete;
  WatchOperators& operator=(const WatchOperators&) = delete;

  // Any thread. False: so many wait already.
  bool ask(ConnectionId connection, std::uint64_t number, std::string json);
  std::vector<Answered> take();

 private:
  void work();

  const std::function<std::string(std::string_view)> ask_;
  const std::function<void()> answered_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Answered> asked_;  // with the question in the answer's place
  std::vector<Answered> answers_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tributary
