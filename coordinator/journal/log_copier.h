// Copies the log of the coordinator's journal into its file on a thread of its own, by a second
// connection, so that no record waits for the disk.
//
// The journal must leave its log to it (WriteAheadLog::leave_to_another_connection()).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/service/loop/worker.h"
#include "core/store/database/database.h"
#include "core/store/database/write_ahead_log.h"

namespace tributary {

class LogCopier {
 public:
  struct Pass {
    Status status;
    WriteAheadLog::Copied copied;
    std::chrono::nanoseconds took{0};
  };
  // `done` is called on the copier's thread after each pass. `clock` must outlive the object.
  static Result<std::unique_ptr<LogCopier>> open(const std::string& file, const Clock& clock,
                                                 std::function<void(const Pass&)> done);
  // Waits for a pass in progress.
  ~LogCopier() = default;
  LogCopier(const LogCopier&) = delete;
  LogCopier& operator=(const LogCopier&) = delete;

  // Begins a pass. Not before `done` was called for the one before.
  void start() {
    thread_.post([this] { copy(); });
  }

 private:
  LogCopier(std::unique_ptr<Database> database, const Clock& clock,
            std::function<void(const Pass&)> done)
      : database_(std::move(database)), clock_(clock), done_(std::move(done)) {}
  void copy();

  const std::unique_ptr<Database> database_;
  const Clock& clock_;
  const std::function<void(const Pass&)> done_;
  Worker thread_{"log copier"};  // destroyed first
};

}  // namespace tributary
