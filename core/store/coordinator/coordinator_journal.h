// The coordinator's journal in a SQLite file, and the residuals of aggregators beside it
// (AggregatorResiduals). It contains the state for a restart: jobs, epochs,
// rounds with their plans, redo and checkpoints. It also contains records for people: agents,
// reports, events, readings and links.
//
// While it is open, other processes may read the file (RunFile, or sqlite3 -readonly), but not
// write it. Used by one thread at a time. All calls block on the disk.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/records.h"
#include "core/store/coordinator/bounded_table.h"
#include "core/store/coordinator/residuals/aggregator_residuals.h"
#include "core/store/coordinator/telemetry_rows.h"
#include "core/store/database/blobs.h"
#include "core/store/database/journal.h"

namespace tributary {

struct CoordinatorJournalOptions {
  JournalOptions journal;
  // Number of rounds up to the checkpoint that restore() returns for each job.
  std::uint64_t history_rounds_max = 256;
  Retention retention = {};
};

class CoordinatorJournal {
 public:
  // Creates or migrates the file, and marks all agents as disconnected. Fails with already_exists
  // (another process has the journal), unsupported (a newer version), mismatch (another kind of
  // file), corrupt_data or io_error.
  static Result<std::unique_ptr<CoordinatorJournal>> open(const CoordinatorJournalOptions& options);

  // Stores a record in one transaction. If the result is ok, the record is durable as far as
  // JournalOptions::durability says; jobs and epochs always are, so that a number that was given to
  // one is never given to another. Otherwise nothing of it is stored, and worth_retrying() says
  // whether a repetition can succeed. One exception: after an error while syncing, a crash may
  // still make the record visible. A round that is stored again replaces the earlier one.
  Status store(const CoordinatorRecord& record);
  // Moves everything that `recent` has to this journal, in one transaction, as if its records had
  // been stored here in their order. `recent` keeps it until it is deleted; a second move replaces
  // the rounds, and repeats rows for people. Payloads here of rounds that a checkpoint in `recent`
  // contains are deleted.
  Status take_over(CoordinatorJournal& recent);
  // Copies a long log into the file. Call it while nothing waits for the journal; otherwise the
  // next record does it. Returns whether the log was long (WriteAheadLog::copy_if_long()).
  bool rest() { return database().log().copy_if_long(); }
  // Makes all stored records durable.
  Status sync();
  // Moves the residuals into the file, copies the whole log into it, frees both, and marks the file
  // as closed: the file alone has everything then. Nothing may be stored afterwards. Fails with
  // unavailable during a reader's transaction: call it again, or the log still belongs to the file.
  Status close();
  // Returns the state for a restart. Fails with corrupt_data if a stored value does not match its
  // hash; but damaged parts of an aggregator's residual become zeros (residual_damage()), with an
  // event in the same transaction.
  Result<CoordinatorState> restore();
  // Values of a residual that restore() could not read in PATH-vectors.
  struct ResidualDamage {
    std::uint64_t job = 0;
    std::uint64_t values = 0;
  };
  const std::vector<ResidualDamage>& residual_damage() const { return residual_damage_; }
  // Returns one committed round and its epoch; the round is empty if it is not stored.
  Result<RoundLoaded> load_round(const LoadRound& request);

  // Stores telemetry in one transaction with one sync; call it about once per second with the rows
  // collected since. Fails with invalid_argument if there are more than kTelemetryRowsMax rows.
  Status add(const TelemetryRows& rows);

  Database& database() { return *owned_.database; }
  // The file beside the journal, which may not exist. Syncing it and then the log in another way,
  // on any thread, is as good as sync().
  const std::string& vectors_path() const { return residuals_.path(); }

 private:
  enum Table { agent_rounds, events, metrics, link_samples };

  CoordinatorJournal(OwnedDatabase owned, const CoordinatorJournalOptions& options);
  Status in_transaction(const std::function<Status()>& function);

  Status put(const NewJobRecord& record);
  Status put(const JobRecord& record);
  Status put(const EpochRecord& record);
  Status put(const CommitRecord& record);
  Status put(const AgentRecords& records);
  Status put(const CheckpointRecord& record);
  Status put(const DatedNote& event);
  Status put(const DatedReading& metric);
  Status put(const LinkSampleRecord& sample);

  // Deletes the stored round before it is stored again.
  Status forget_round(const RoundKey& id);
  Result<std::int64_t> put_round(const RoundRecord& round, const SharedBytes& mechanisms);
  Status put_plan(std::int64_t row, const SharedBytes& frame);
  Status put_redo(std::int64_t row, const RedoPayload& payload, std::uint64_t place);
  Status restore_residual(RestoredJob& job);
  Status forget_epochs_before(const RoundKey& id);
  // Parts of take_over().
  Status take_rounds();
  Status take_state(CoordinatorJournal& recent, std::uint64_t job);
  Status take_rows_for_people();
  // Removes redo rows up to the round and appends their blobs to `dropped`.
  Status drop_redo_up_to(std::uint64_t job, std::uint64_t round, std::vector<BlobId>& dropped);
  Status put_reports(const std::vector<AgentRoundRecord>& reports);
  Result<std::int64_t> number_of_agent(const std::string& agent_id);

  std::int64_t now_wall_ns() const { return wall_time_ns(clock_); }

  OwnedDatabase owned_;
  Blobs blobs_;  // all but the residuals
  AggregatorResiduals residuals_;
  const Clock& clock_;
  std::uint64_t history_rounds_max_;
  const Durability durability_;
  const bool never_synced_;
  bool closed_ = false;  // has the mark
  std::vector<ResidualDamage> residual_damage_;
  std::array<BoundedTable, 4> tables_;
  // Cached knowledge about the tables; cleared after a failed transaction.
  std::map<std::string, std::int64_t> agent_numbers_;
  std::map<std::uint64_t, std::uint32_t> epochs_looked_at_;  // key: job
};

}  // namespace tributary
