// What a daemon tells of itself, and by which clock: log, metrics, and the notes of its machine.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/service/metrics/metrics.h"
#include "core/service/metrics/note_log.h"
#include "core/service/settings/common_settings.h"

namespace tributary {

class DaemonOutlets {
 public:
  // `keep` gets what is noted from info on, whatever the log's level. All that this gives out
  // refers to it: it must outlive them.
  static Result<std::unique_ptr<DaemonOutlets>> open(
      const CommonSettings& settings, std::string_view component,
      std::function<void(const Note&)> keep = nullptr);
  DaemonOutlets(const DaemonOutlets&) = delete;
  DaemonOutlets& operator=(const DaemonOutlets&) = delete;

  const Clock& clock() const { return clock_; }
  Log& log() { return *log_; }
  Metrics& metrics() { return *metrics_; }
  NoteLog& notes() { return *notes_; }

 private:
  DaemonOutlets() = default;

  SystemClock clock_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<NoteLog> notes_;
};

}  // namespace tributary
