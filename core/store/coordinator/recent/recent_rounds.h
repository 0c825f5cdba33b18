// Rounds that the journal of a run does not have yet, in a journal of their own beside it
// (PATH-recent), while the disk is busy with the log of the run's journal.
//
// The file is never synced: a process that is killed finds it again, and a power failure loses it,
// as journal.durability allows. Only the newest checkpoint and the payloads after it are in it, so
// its pages are overwritten again and again, and the disk need not write them all. Deleted, they
// are not written at all.
//
// Used by the thread of the run's journal, which must outlive the object. Errors are those of
// CoordinatorJournal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/status.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/records.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/telemetry_rows.h"

namespace tributary {

// Path of the journal beside that of the run.
std::string path_of_recent_rounds(const Database& run);

class RecentRounds {
 public:
  // `options` are those of the run's journal.
  RecentRounds(CoordinatorJournal& run, const CoordinatorJournalOptions& options);

  // Moves the rounds that a killed process has left to the run's journal. Rounds from before a
  // start of the machine may be damaged, and are deleted.
  enum class Leftover : std::uint8_t { none, moved, deleted };
  Result<Leftover> take_leftover();

  bool empty() const { return journal_ == nullptr; }
  // After an error, nothing of the record is stored.
  Status store(const CommitRecord& record);
  Status store(const AgentRecords& record);
  Status add(const TelemetryRows& rows);
  // The round is empty if it is not here.
  Result<RoundLoaded> load_round(const LoadRound& request);
  // Moves everything to the run's journal in one transaction. After an error everything is still
  // here.
  Status move();

 private:
  Status open();
  Status open_for(std::uint64_t job);
  Status note_boot_id();
  void remove_files();

  CoordinatorJournal& run_;
  CoordinatorJournalOptions options_;
  std::unique_ptr<CoordinatorJournal> journal_;  // null: empty
};

}  // namespace tributary
