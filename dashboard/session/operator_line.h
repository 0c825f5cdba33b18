// The thread that asks a coordinator what an operator wants of it: an answer may take its time, and
// what is shown of the run must not wait for it.
//
// Its source is one of its own, made when somebody asks and given up when nobody has for a while.
// At a coordinator it only asks, and so takes no watcher's place (core/watch/watch_desk.h).
//
// Threads: every member but the constructor may be called from any one; `ready` is called in its
// own, and must only wake somebody.
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
  std::uint64_t number = 0;  // of the question
  Status status = {};        // that there is an answer; what it says is another matter
  std::string text = {};     // as core/service/operator_talk.h reads it
};

class OperatorLine {
 public:
  using MakeSource = std::function<std::unique_ptr<RunSource>(const Clock& clock)>;
  static constexpr std::size_t kQuestionsMax = 16;  // that wait

  OperatorLine(MakeSource make, std::function<void()> ready);
  ~OperatorLine();
  OperatorLine(const OperatorLine&) = delete;
  OperatorLine& operator=(const OperatorLine&) = delete;

  // Each is answered, in this order; beyond kQuestionsMax with resource_exhausted.
  void ask(std::uint64_t number, std::string question);
  // What `ready` told of.
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
  std::shared_ptr<RunSource> source_;  // the thread asks it; others may wake it
  bool ending_ = false;
  std::thread thread_;  // from the first question on
};

}  // namespace tributary::dashboard
