// The agent's journal in a SQLite file: the current replica, the residual, the contributions whose
// outcome is unknown, and the received bytes of an unfinished model download.
//
// The file is locked exclusively while the journal is open; no other process can open it, not even
// to read. Used by one thread at a time. store() and restore() block on the disk; restore() holds
// the model and all contributions in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/store/agent/download_rows.h"
#include "core/store/database/blobs.h"
#include "core/store/database/journal.h"

namespace tributary {

class AgentJournal {
 public:
  // Creates or migrates the file. If a power failure may have undone records, it drops the residual
  // and the contributions (residual_dropped()). Fails with already_exists (another process has the
  // journal), unsupported (a newer version), mismatch (another kind of file), corrupt_data or
  // io_error.
  static Result<std::unique_ptr<AgentJournal>> open(const JournalOptions& options);

  // Stores a record in one transaction. If the result is ok, the record is durable as far as
  // JournalOptions::durability says; otherwise nothing of it is stored, and worth_retrying() says
  // whether a repetition can succeed. One exception: after an error while syncing, a crash may
  // still make the record visible. A contribution and a replica without a model require a stored
  // replica of their job (invalid_argument).
  Status store(const AgentRecordToStore& record);
  // Makes all records durable, and marks the journal as closed. Nothing may be stored afterwards.
  Status close();
  // The norm of the residual that open() has dropped: a part of it may be in rounds of which no
  // record is left, so that it would count twice. Empty: the records are complete.
  const std::optional<double>& residual_dropped() const { return residual_dropped_; }
  // The number of residuals that were dropped in this way, in the last kRunsMax runs.
  Result<std::uint64_t> residuals_dropped();
  // Returns the stored state. Fails with corrupt_data if a stored value does not match its hash.
  Result<AgentState> restore();

  // Renames a damaged journal, with its log, to PATH.damaged, which replaces an earlier one. Only
  // while no process has it open (already_exists). Returns the new name.
  static Result<std::string> set_aside(const std::string& path);

  // For statistics and tests; the journal keeps the ownership.
  Database& database() { return *owned_.database; }

 private:
  AgentJournal(OwnedDatabase owned, const Clock& clock, std::optional<double> residual_dropped)
      : owned_(std::move(owned)),
        blobs_(database()),
        downloads_(database()),
        clock_(clock),
        residual_dropped_(residual_dropped) {}

  Status put(const AgentJobRecord& record);
  Status put(const ReplicaRecord& record);
  Status put(const ContributionRecord& record);
  Status put(const DownloadRecord& record) { return downloads_.put(record); }
  Status put_residual(const ResidualStamp& stamp, std::optional<BlobId> residual);
  Status check_replica(std::uint64_t job, std::string what);
  Status forget_everything();
  // Deletes the undecided rounds that are not in `kept` and appends their blobs to `dropped`.
  Status forget_undecided(const std::vector<RoundKey>& kept, std::vector<BlobId>& dropped);
  Result<std::uint64_t> undecided_row(const ContributionRecord& record);
  Status blobs_of_replica(std::vector<BlobId>& found);
  Status blob_of_residual(std::vector<BlobId>& found);

  Result<std::optional<AgentJobRecord>> restore_job();
  Result<std::optional<ReplicaRecord>> restore_replica();
  Status restore_residual(ReplicaRecord& replica);
  Result<std::vector<UndecidedRound>> restore_undecided();
  Status restore_parts(std::uint64_t row, UndecidedRound& round);

  OwnedDatabase owned_;
  Blobs blobs_;
  DownloadRows downloads_;
  const Clock& clock_;
  const std::optional<double> residual_dropped_;
};

}  // namespace tributary
