#include "coordinator/journal/stop_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/exit_codes.h"
#include "core/service/service_manager.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {
namespace {

constexpr std::string_view kStopComponent = "coordinator";
// The service manager ends the process if it hears nothing for this many reports.
constexpr int kReportsMissedMax = 4;

std::uint64_t bytes_of_file(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

// 0 if there are none, or if they cannot be counted.
std::uint64_t rounds_beside(const std::string& journal) {
  const auto run = RunFile::open(journal);
  if (!run.ok()) return 0;
  const auto missing = (*run)->missing();
  return missing.ok() ? missing->beside : 0;
}

}  // namespace

std::unique_ptr<StopProgress> StopProgress::of_process(const std::string& journal, Log& log,
                                                       StatusCode status) {
  return std::make_unique<StopProgress>(
      Parts{.journal = journal,
            .log = log,
            .notify = [](const std::string& state) { ignore_error(notify_service_manager(state)); },
            .end =
                [status](int signal) {
                  ::_exit(signal == 0 ? exit_code(status) : kExitSignal + signal);
                }},
      Times());
}

StopProgress::StopProgress(Parts parts, Times times) : parts_(std::move(parts)), times_(times) {
  auto signals = StopSignals::open([this](int signal) {
    if (signal != SIGHUP) give_up(signal);
  });
  if (signals.ok()) signals_ = std::move(*signals);
  thread_ = std::thread([this] { work(); });
}

StopProgress::~StopProgress() {
  signals_.reset();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StopProgress::work() {
  std::chrono::milliseconds waited{0};
  std::unique_lock lock(mutex_);
  while (waited < times_.most) {
    const std::chrono::milliseconds step = std::min(times_.every, times_.most - waited);
    if (changed_.wait_for(lock, step, [this] { return ended_; })) return;
    waited += step;
    lock.unlock();
    if (waited < times_.most) report(waited);
    lock.lock();
  }
  lock.unlock();
  give_up(0);
}

void StopProgress::report(std::chrono::milliseconds waited) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  parts_.log.info(
      kStopComponent, "stopping: waiting for the disk",
      {{"waited_s", s},
       {"at_most_s", std::chrono::duration_cast<std::chrono::seconds>(times_.most).count()},
       {"log_bytes", bytes_of_file(parts_.journal + "-wal")},
       {"beside_bytes", bytes_of_file(parts_.journal + "-recent")}});
  const auto more = std::chrono::duration_cast<std::chrono::microseconds>(times_.every);
  parts_.notify(fmt::format("EXTEND_TIMEOUT_USEC={}\nSTATUS=waiting for the disk since {} s",
                            kReportsMissedMax * more.count(), s));
}

// A signal and the bound may come at the same time.
void StopProgress::give_up(int signal) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
  }
  changed_.notify_all();
  parts_.log.warning(
      kStopComponent,
      "stopped before the disk had everything: the next coordinator continues with the journal's "
      "log and the rounds beside it. Start it before the machine is restarted",
      {{"log_bytes", bytes_of_file(parts_.journal + "-wal")},
       {"rounds_beside", rounds_beside(parts_.journal)}});
  parts_.end(signal);
}

}  // namespace tributary
