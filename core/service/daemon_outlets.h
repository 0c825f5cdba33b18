// The outputs of a daemon and its clock: the log, the metrics and the log of its machine's notes.
//
// open() is called once, at the start of a daemon, before its threads. The order of destruction is
// the reverse of what the objects need: notes, metrics, log, clock.
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

// It owns them. Metrics may be used by any thread, NoteLog only by one.
class DaemonOutlets {
 public:
  // Opens the outputs that the settings select. `keep` receives the notes from level info on,
  // whatever the log's level is. Everything that this object returns refers to it and must not
  // outlive it. Returns io_error if the metrics endpoint cannot be opened.
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
