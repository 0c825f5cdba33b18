// Writes the coordinator's journal so that no record waits for a slow disk.
//
// A long log is copied into the file by another thread (LogCopier). If the log is still being
// copied and has grown by another quarter, rounds go to a journal beside it (RecentRounds), and
// from there to the journal when the log is copied. So the log has a bound, and of rounds that
// came meanwhile only the newest payloads are written. With Durability::round, records wait for
// the disk in any case; they are then slowed down evenly until the log is copied.
//
// All methods belong to the journal's thread, except where a comment says otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "coordinator/journal/durability_lag.h"
#include "coordinator/journal/log_blockage.h"
#include "coordinator/journal/log_copier.h"
#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/base/status.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/recent/recent_rounds.h"

namespace tributary {

class JournalWriter {
 public:
  struct Parts {
    // Calls its argument on the journal's thread, unless that has ended; called on any thread.
    std::function<void(std::function<void()>)> on_thread;
    // Takes the length of a log that a reader keeps from being copied.
    std::function<void(std::uint64_t log_bytes)> blocked;
    const Clock& clock;
    Log& log;
  };

  // Opens or creates the journal, and moves to it what a killed process has left beside it.
  static Result<std::unique_ptr<JournalWriter>> open(const CoordinatorJournalOptions& options,
                                                     Parts parts);
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // As those of CoordinatorJournal.
  Status store(const CoordinatorRecord& record);
  Status add(const TelemetryRows& rows);
  Result<RoundLoaded> load_round(const LoadRound& request);

  // After a record, while nothing waits: looks after the log. Returns the time that rounds should
  // wait now.
  std::chrono::nanoseconds rest();
  // Waits for a copy in progress; no copy begins afterwards. Only after the journal's thread has
  // ended.
  void end_copies() { copier_.reset(); }
  // Moves everything to the journal and closes it (CoordinatorJournal::close()).
  Status close();

  CoordinatorJournal& journal() { return *journal_; }
  DurabilityLag& lag() { return lag_; }  // on any thread, as its methods allow

 private:
  JournalWriter(std::unique_ptr<CoordinatorJournal> journal,
                const CoordinatorJournalOptions& options, Parts parts);

  bool stores_beside() const;
  Status store_beside(const CoordinatorRecord& record);
  Status move();
  void copied(const LogCopier::Pass& pass);
  void measure(const LogCopier::Pass& pass);
  void report(const LogCopier::Pass& pass);
  void start_copy();
  std::chrono::nanoseconds pause();

  const Parts parts_;
  const Durability durability_;
  const std::unique_ptr<CoordinatorJournal> journal_;
  RecentRounds recent_;
  DurabilityLag lag_;
  LogBlockage blockage_;
  // The round that was stored last.
  struct Last {
    std::chrono::nanoseconds at{0};
    std::chrono::nanoseconds since_last{0};
    double bytes = 0;     // for the disk: in the log, or of its rows that are not replaced
    bool is_new = false;  // since the last rest()
  };
  Last last_;
  // The copy in progress, or the last one.
  struct Copy {
    bool running = false;
    std::chrono::nanoseconds began_at{0};  // with its first pass
    bool blocked = false;                  // the last one, by a reader
    std::uint64_t log_bytes = 0;           // when it began
    std::uint64_t before = 0;              // bytes of this log that were copied before
    double bytes_per_s = 0;                // 0: not measured
  };
  Copy copy_;
  std::unique_ptr<LogCopier> copier_;  // null: records wait for copies. Destroyed first
};

}  // namespace tributary
