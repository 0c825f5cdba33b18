// Sends an operator's requests to a coordinator on a thread of its own, so that a slow answer does
// not delay the display of the run.
//
// The thread creates its own source for the first request and closes it after a minute without
// requests. The connection only sends requests and therefore does not count as a watcher
// (core/watch/watch_sessions.h).
//
// Thread safety: all members except the constructor may be called from any thread. `ready` is
// called on the object's thread or on the thread that called ask(), and must only wake the
// receiver. The destructor interrupts a request under way and waits for the thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/run/run_source.h"

namespace tributary::dashboard {

struct OperatorAnswer {
  std::uint64_t number = 0;  // number of the request
  Status status = {};        // whether there is an answer; its content may still be a refusal
  std::string text = {};     // format: core/service/operator_messages.h
};

class OperatorChannel {
 public:
  using MakeSource = std::function<std::unique_ptr<RunSource>(const Clock& clock)>;
  static constexpr std::size_t kQuestionsMax = 16;  // waiting requests

  OperatorChannel(MakeSource make, std::function<void()> ready);
  ~OperatorChannel();
  OperatorChannel(const OperatorChannel&) = delete;
  OperatorChannel& operator=(const OperatorChannel&) = delete;

  // Queues a request. Every request is answered, in this order; beyond kQuestionsMax waiting
  // requests with resource_exhausted.
  void ask(std::uint64_t number, std::string question);
  // Returns the answers since the last call. Called after `ready`.
  std::vector<OperatorAnswer> take();

 private:
  struct Question {
    std::uint64_t number = 0;
    std::string text = {};
  };

  void work();
  void give_up_source(std::unique_lock<std::mutex>& lock);
  OperatorAnswer answered(const Question& question);

  const MakeSource make_;
  const std::function<void()> ready_;
  SystemClock clock_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Question> questions_;
  std::vector<OperatorAnswer> answers_;
  std::shared_ptr<RunSource> source_;  // only the thread uses it; other threads may wake it
  bool ending_ = false;
  std::thread thread_;  // started by the first request
};

}  // namespace tributary::dashboard
