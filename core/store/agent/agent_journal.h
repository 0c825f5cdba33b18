// The agent's journal: the newest replica, the residual, the contributions whose fate is open, and
// the first bytes of a model download that is under way.
//
// Nobody else can open it meanwhile, not even to read.
//
// Threads: one at a time.
#pragma once

#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/store/agent/download_rows.h"
#include "core/store/database/blobs.h"
#include "core/store/database/journal.h"

namespace tributary {

class AgentJournal {
 public:
  static Result<std::unique_ptr<AgentJournal>> open(const JournalOptions& options);

  // Durable once it is ok, and not there at all otherwise; worth_retrying() says whether asking
  // again makes sense. One case is open: after an error while syncing, a crash may still bring the
  // record to light.
  Status store(const AgentRecordToStore& record);
  Result<AgentState> restore();

  Database& database() { return *owned_.database; }

 private:
  explicit AgentJournal(OwnedDatabase owned)
      : owned_(std::move(owned)), blobs_(database()), downloads_(database()) {}

  Status put(const AgentJobRecord& record);
  Status put(const ReplicaRecord& record);
  Status put(const ContributionRecord& record);
  Status put(const DownloadRecord& record) { return downloads_.put(record); }
  Status put_residual(const ResidualStamp& stamp, std::optional<BlobId> residual);
  Status forget_everything();
  // Forgets the undecided rounds that are not in `kept`; their blobs go to `dropped`.
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
};

}  // namespace tributary
