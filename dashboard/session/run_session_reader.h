// The thread of a RunSession: follows the run and answers what is asked of it.
//
// Threads: every member but the constructor may be called from any one; `ready` is called in the
// reader's, and must only wake somebody.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/run/round_detail.h"
#include "core/run/run_changes.h"
#include "core/run/run_source.h"
#include "dashboard/session/run_session.h"

namespace tributary::dashboard {

// An answer to ask_round(): either of them.
struct RoundAnswer {
  std::uint64_t round = 0;
  std::shared_ptr<const RoundDetail> detail = {};
  Status why_not = {};
};

struct RunPortion {
  RunChanges changes = {};
  Status trouble = {};
  bool at_end = false;  // of what there is now
  std::optional<RoundAnswer> answer = {};
};

struct RoundQuestion {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
};

class RunSessionReader {
 public:
  RunSessionReader(const RunSessionOptions& options, std::function<void()> ready);
  ~RunSessionReader();
  RunSessionReader(const RunSessionReader&) = delete;
  RunSessionReader& operator=(const RunSessionReader&) = delete;

  // What `ready` told of. The thread goes on reading from here.
  std::optional<RunPortion> take();
  void ask_round(std::uint64_t job, std::uint64_t round);

 private:
  void work();
  RunPortion read();
  void hand_over(RunPortion&& portion);

  std::chrono::milliseconds look_every_;
  std::function<void()> ready_;
  SystemClock clock_;
  std::unique_ptr<RunSource> source_;  // the thread's, but for waking it
  std::string told_;                   // the trouble that was handed over last
  bool told_end_ = false;              // and whether everything had been read

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<RunPortion> portion_;
  std::optional<RoundQuestion> question_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tributary::dashboard
