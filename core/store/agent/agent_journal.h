// The agent's journal: the current replica, the residual, the contributions whose outcome is
// unknown, and the received bytes of an unfinished model download. It is a SQLite file, and
// PATH-vectors beside it with the large parts of vectors (core/store/database/vectors).
//
// The file is locked exclusively while the journal is open; no other process can open it, not even
// to read. Used by one thread at a time. store() and restore() block on the disk; restore() holds
// the model and all contributions in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/store/agent/download_rows.h"
#include "core/store/database/blobs.h"
#include "core/store/database/journal.h"
#include "core/store/database/vectors/vector_file.h"
#include "core/store/durability/durability.h"

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
  // Makes all stored records durable.
  Status sync();
  // Makes all records durable, and marks the journal as closed. Nothing may be stored afterwards.
  Status close();
  // The norm of the residual that open() has dropped: a part of it may be in rounds of which no
  // record is left, so that it would count twice. Or of the one that restore() has dropped, because
  // it is damaged. Empty: the residual is complete.
  const std::optional<double>& residual_dropped() const { return residual_dropped_; }
  // Damage in PATH-vectors. open() and restore() find it.
  struct Damage {
    bool model = false;                 // or the optimizer's state: the replica has no model
    std::uint64_t residual_values = 0;  // residual_dropped() takes them as zeros
  };
  const Damage& damage() const { return damage_; }
  // The number of residuals that were dropped in this way, in the last kRunsMax runs.
  Result<std::uint64_t> residuals_dropped();
  // Returns the stored state. If a value in PATH-vectors does not match its hash, the state has no
  // model, or the residual and the contributions are dropped (damage()). Fails with corrupt_data if
  // another value is damaged.
  Result<AgentState> restore();

  // Renames a damaged journal, with its log and its vectors, to PATH.damaged, which replaces an
  // earlier one. Only while no process has it open (already_exists). Returns the new name.
  static Result<std::string> set_aside(const std::string& path);

  // For statistics and tests; the journal keeps the ownership.
  Database& database() { return *owned_.database; }
  // The file of large chunks. Syncing it and then the log in another way, on any thread, is as good
  // as sync().
  const std::string& vectors_path() const { return vectors_->path(); }

 private:
  AgentJournal(OwnedDatabase owned, std::unique_ptr<VectorFile> vectors,
               const JournalOptions& options)
      : owned_(std::move(owned)),
        vectors_(std::move(vectors)),
        blobs_(database(), large_chunks(*vectors_, options)),
        downloads_(database()),
        clock_(clock_of(options)),
        durability_(options.durability) {}
  static Blobs::LargeChunks large_chunks(VectorFile& file, const JournalOptions& options);

  // Runs `change` in a transaction of the database and the vectors.
  Status change(const std::function<Status()>& change);
  Status drop_damaged_model();
  Status drop_damaged_residual();

  Status put(const AgentJobRecord& record);
  Status put(const ReplicaRecord& record);
  Status put(const ContributionRecord& record);
  Status put(const DownloadRecord& record);
  Status blobs_of_parts(std::uint64_t row, const std::vector<ContributionPart>& parts,
                        std::vector<BlobId>& found);
  Status put_residual(const ResidualStamp& stamp, std::optional<BlobId> residual);
  Status check_replica(std::string_view what, std::uint64_t job);
  Status remove_download();
  Status forget_everything();
  // Deletes the undecided rounds that are not in `kept` and appends their blobs to `dropped`.
  Status forget_undecided(const std::vector<RoundKey>& kept, std::vector<BlobId>& dropped);
  Result<std::uint64_t> undecided_row(const ContributionRecord& record);
  Status blobs_of_replica(std::vector<BlobId>& found);
  Status blob_of_residual(std::vector<BlobId>& found);

  Result<std::optional<AgentJobRecord>> restore_job();
  Result<std::optional<ReplicaRecord>> restore_replica();
  // These add damaged bytes of vectors to `damaged`.
  Status restore_residual(ReplicaRecord& replica, std::uint64_t& damaged);
  Result<std::vector<UndecidedRound>> restore_undecided(std::uint64_t& damaged);
  Status restore_parts(std::uint64_t row, UndecidedRound& round, std::uint64_t& damaged);

  // Known contents of rows, which a round need not read. Empty: unknown, as after an error.
  struct Known {
    std::optional<std::uint64_t> job;    // of the replica
    std::optional<std::uint32_t> epoch;  // of the replica
    bool no_download = false;
  };

  OwnedDatabase owned_;
  std::unique_ptr<VectorFile> vectors_;
  Blobs blobs_;
  DownloadRows downloads_;
  const Clock& clock_;
  const Durability durability_;
  std::optional<double> residual_dropped_;
  Damage damage_;
  Known known_;
};

}  // namespace tributary
