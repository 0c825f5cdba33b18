// The coordinator's journal, written on a thread of its own; and the chronicle, whose rows go to
// the journal one bundle at a time: while the disk is slow, rows gather until there is no more
// room.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "coordinator/telemetry/chronicle.h"
#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/worker.h"
#include "core/store/coordinator/coordinator_journal.h"

namespace tributary {

class CoordinatorStorage {
 public:
  struct Parts {
    std::function<void(Event)> post;  // to the coordinator's machine; any thread
    const Clock& clock;
    Log& log;
  };

  static Result<std::unique_ptr<CoordinatorStorage>> open(const CoordinatorJournalOptions& options,
                                                          Parts parts);
  CoordinatorStorage(const CoordinatorStorage&) = delete;
  CoordinatorStorage& operator=(const CoordinatorStorage&) = delete;

  // What the journal has; once, before anything is stored.
  Result<CoordinatorState> restore();
  // Is answered by Stored.
  void store(StoreCoordinator& wanted);
  // Is answered by RoundLoaded.
  void load(const LoadRound& wanted);

  Chronicle& chronicle() { return chronicle_; }
  // Hands the chronicle's rows to the journal, unless some are still on their way.
  void keep_chronicle();

  // Finishes what the thread is at; nothing is stored from then on.
  void end();
  // After end(): what is still in the chronicle.
  void keep_rest();

 private:
  CoordinatorStorage(std::unique_ptr<CoordinatorJournal> journal, Parts parts)
      : parts_(std::move(parts)),
        chronicle_(parts_.clock),
        journal_(std::move(journal)),
        thread_(std::make_unique<Worker>()) {}

  void log_stored(const CoordinatorRecord& record);
  void keep(const TelemetryRows& rows);

  const Parts parts_;
  Chronicle chronicle_;
  const std::unique_ptr<CoordinatorJournal> journal_;
  std::atomic<bool> keeping_ = false;  // rows are on their way to the journal:
  TelemetryRows under_way_;            // these
  bool keeping_failed_ = false;        // the journal's thread
  std::unique_ptr<Worker> thread_;     // ends before all of these
};

}  // namespace tributary
