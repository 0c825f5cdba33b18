// Makes a file that others write durable again and again, on a thread of its own.
//
// A slow disk therefore delays neither the writer nor a state machine; only the time grows after
// which writes are durable, and a warning in the log says so. All parts are used on this object's
// thread and must outlive the object.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/base/status.h"

namespace tributary {

// Makes everything durable that was written to the file so far. A missing file has nothing to make
// durable. Fails with io_error.
Status sync_file(const std::string& path);

class PeriodicSync {
 public:
  struct Parts {
    std::function<Status()> sync;
    // Called after each sync that failed: what was written may not be durable.
    std::function<void()> failed;
    const Clock& clock;  // measures the syncs
    Log& log;
    std::string_view component;  // of the log's lines
  };

  PeriodicSync(std::chrono::milliseconds every, Parts parts);
  // Waits for a sync in progress.
  ~PeriodicSync();
  PeriodicSync(const PeriodicSync&) = delete;
  PeriodicSync& operator=(const PeriodicSync&) = delete;

 private:
  void work();
  std::chrono::nanoseconds sync();  // returns the time that it took

  const std::chrono::milliseconds every_;
  const Parts parts_;
  bool failed_ = false;  // the last sync; used by the thread
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;  // started last
};

}  // namespace tributary
