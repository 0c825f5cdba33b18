// The thread of a RunSession. It follows the run and reads the details of rounds on request.
//
// Thread safety: all members except the constructor may be called from any thread. `ready` is
// called on the reader's thread and must only wake the receiver. The destructor waits for the
// thread.
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
#include "dashboard/session/decision_belief.h"
#include "dashboard/session/run_session.h"

namespace tributary::dashboard {

// The answer to ask_round(): either `detail` or `why_not`.
struct RoundAnswer {
  std::uint64_t round = 0;
  std::shared_ptr<const RoundDetail> detail = {};
  std::shared_ptr<const DecisionBelief> belief = {};  // null: the round has no decision
  Status why_not = {};
};

// One step of reading.
struct RunPortion {
  RunChanges changes = {};
  Status trouble = {};
  bool at_end = false;  // of the data available now
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

  // Returns the portion that `ready` announced. The thread continues to read after this call. Empty
  // if it was taken before.
  std::optional<RunPortion> take();
  // Requests a round. A newer request replaces one that has not been read yet.
  void ask_round(std::uint64_t job, std::uint64_t round);

 private:
  void work();
  RunPortion read();
  // Offers a portion to the receiver, unless it contains no news.
  void hand_over(RunPortion&& portion);

  std::chrono::milliseconds look_every_;
  std::function<void()> ready_;
  SystemClock clock_;
  std::unique_ptr<RunSource> source_;  // used by the thread; other threads only wake it
  std::string reported_trouble_;       // the last trouble handed over
  bool reported_end_ = false;          // the last at_end handed over

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<RunPortion> portion_;
  std::optional<RoundQuestion> question_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tributary::dashboard
