// Reports how the end of a coordinator goes on while its journal waits for a slow disk, and bounds
// it.
//
// Every few seconds there is a line in the log, and the service manager is asked to wait longer:
// its own limit (TimeoutStopSec) is for a coordinator that hangs. When the bound has passed, or a
// signal to stop comes, the process ends. It loses nothing by that: the log of the journal and the
// rounds beside it are files, which the next coordinator reads.
//
// The object is made and destroyed by one thread and has threads of its own. Nothing else may
// handle SIGTERM and SIGINT meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/log/log.h"
#include "core/base/status.h"
#include "core/service/stop_signals.h"

namespace tributary {

class StopProgress {
 public:
  struct Parts {
    std::string journal;  // path of its file
    Log& log;
    std::function<void(const std::string& state)> notify;  // the service manager
    // Ends the process. Called once at most, on a thread of the object. `signal` is 0 if the bound
    // has passed.
    std::function<void(int signal)> end;
  };
  struct Times {
    std::chrono::milliseconds every{5'000};
    // Three times what a disk of 1 MB/s needs to copy a log.
    std::chrono::milliseconds most{180'000};
  };

  // Ends the process with the exit code of `status`, or with the one for a signal.
  static std::unique_ptr<StopProgress> of_process(const std::string& journal, Log& log,
                                                  StatusCode status);
  StopProgress(Parts parts, Times times);
  ~StopProgress();
  StopProgress(const StopProgress&) = delete;
  StopProgress& operator=(const StopProgress&) = delete;

 private:
  void work();
  void report(std::chrono::milliseconds waited);
  void give_up(int signal);

  const Parts parts_;
  const Times times_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;                    // guarded by mutex_
  std::unique_ptr<StopSignals> signals_;  // null: signals wait for the end
  std::thread thread_;                    // started last
};

}  // namespace tributary
