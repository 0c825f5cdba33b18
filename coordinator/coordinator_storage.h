// Writes the coordinator's journal on a thread of its own, and buffers telemetry for it.
//
// Telemetry goes to the journal one batch at a time. While the disk is slow, rows stay in the
// bounded telemetry(), which drops new rows when it is full. All methods belong to the thread of
// the state machine. parts.post is also called on the journal's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "coordinator/journal/durability_lag.h"
#include "coordinator/journal/journal_writer.h"
#include "coordinator/telemetry/telemetry_buffer.h"
#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/loop/worker.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/durability/periodic_sync.h"

namespace tributary {

class CoordinatorStorage {
 public:
  struct Parts {
    // Delivers an event to the state machine; called on any thread.
    std::function<void(Event)> post;
    const Clock& clock;
    Log& log;
    // Takes a note about the journal; called on the thread of the state machine.
    std::function<void(const Note&)> note = nullptr;
  };

  // Opens or creates the journal file. Returns the journal's error if it cannot be used. `parts`
  // holds references that must outlive the object.
  static Result<std::unique_ptr<CoordinatorStorage>> open(const CoordinatorJournalOptions& options,
                                                          Parts parts);
  // Call end() before, or a batch of telemetry that waits is lost. Closes the journal, whose file
  // alone then has everything that was stored. If another process reads it meanwhile, this waits
  // some seconds; then the log remains, with a warning.
  ~CoordinatorStorage();
  CoordinatorStorage(const CoordinatorStorage&) = delete;
  CoordinatorStorage& operator=(const CoordinatorStorage&) = delete;

  // Reads the stored jobs and models. Call it once, before the first store().
  Result<CoordinatorState> restore();
  // Writes a record and then posts Stored with the outcome. Takes the record out of `request`.
  void store(StoreCoordinator& request);
  // Reads a round and then posts RoundLoaded. On an error (which is logged) the round is empty.
  void load(const LoadRound& request);

  TelemetryBuffer& telemetry() { return telemetry_; }
  // Passes the buffered telemetry to the journal, unless the previous batch is still being written.
  // Call it about once per second. It also notes that a reader keeps the log from being copied, and
  // that durability is behind.
  void store_telemetry();

  // Bound on the age of the oldest committed round that is not durable; empty if journal.durability
  // promises no time.
  std::optional<std::chrono::nanoseconds> durability_lag() const;

  // Waits for the task in progress and drops all waiting ones. Nothing is stored afterwards.
  void end();
  // Writes the remaining telemetry. Only after end().
  void keep_rest();

 private:
  explicit CoordinatorStorage(Parts parts)
      : parts_(std::move(parts)),
        telemetry_(parts_.clock),
        thread_(std::make_unique<Worker>("journal")) {}

  void sync_every(std::chrono::milliseconds time);

  void log_stored(const CoordinatorRecord& record);
  void keep(const TelemetryRows& rows);
  void rest();
  void end_threads();
  void on_thread(std::function<void()> work);
  void wait(std::chrono::nanoseconds time);
  void note(LogLevel level, std::string_view name, std::string text);
  void report_lag();

  const Parts parts_;
  TelemetryBuffer telemetry_;
  std::unique_ptr<JournalWriter> writer_;
  std::atomic<bool> keeping_ = false;  // whether under_way_ belongs to the journal's thread
  TelemetryRows under_way_;            // batch that is being written
  bool keeping_failed_ = false;        // last write failed; used by the journal's thread
  LagReport lag_report_;
  // Length of a log that a reader keeps from being copied; 0: nothing to note.
  std::atomic<std::uint64_t> blocked_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;             // guarded by mutex_
  std::mutex posting_;              // never taken by the journal's thread
  bool posting_ended_ = false;      // guarded by posting_: the journal's thread takes no more work
  std::unique_ptr<Worker> thread_;  // destroyed before the members above
  std::unique_ptr<PeriodicSync> syncing_;  // null: not needed; destroyed before the thread
};

}  // namespace tributary
