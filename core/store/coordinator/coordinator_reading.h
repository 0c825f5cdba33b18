// Reads a coordinator's journal. Internal part of CoordinatorJournal and RunFile.
//
// Used by the thread of the database. Calls fail with corrupt_data if the file is damaged, or with
// the database's error. A caller that needs several consistent reads opens a transaction.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/records.h"
#include "core/store/database/blobs.h"
#include "core/store/database/database.h"

namespace tributary {

class CoordinatorReading {
 public:
  explicit CoordinatorReading(Database& database) : database_(database), blobs_(database) {}

  // The state for a restart, without the residuals of aggregators (AggregatorResiduals).
  Result<CoordinatorState> restore(std::uint64_t history_rounds_max);
  Result<std::optional<RestoredJob>> restore_one(std::uint64_t job);
  Result<RoundLoaded> load_round(const LoadRound& request);

  Result<std::vector<JobRecord>> jobs();
  // Rounds first_round to last_round of a job, in ascending order; the first `rounds_max` of them.
  Result<std::vector<RoundRecord>> rounds(
      std::uint64_t job, std::uint64_t first_round, std::uint64_t last_round,
      std::uint32_t rounds_max = std::numeric_limits<std::uint32_t>::max());
  // Empty if it is not stored.
  Result<std::optional<EpochRecord>> epoch(std::uint64_t job, std::uint32_t epoch);
  // All stored epochs of a job, in ascending order.
  Result<std::vector<EpochRecord>> epochs(std::uint64_t job);

 private:
  Status restore_job(RestoredJob& job, std::uint64_t history_rounds_max);
  Status restore_checkpoint(RestoredJob& job);
  Status restore_last_epoch(RestoredJob& job);
  Status restore_redo(RestoredJob& job);
  Status restore_epochs(RestoredJob& job);
  Status restore_facts(RestoredJob& job);
  Status read_round(Rows& row, std::vector<RoundRecord>& rounds);
  Status read_sets(std::int64_t round_row, RoundRecord& round);
  // The payloads of all buckets, or of one.
  Result<std::vector<RedoPayload>> redo(const RoundKey& id,
                                        std::optional<std::uint32_t> bucket = std::nullopt);

  Database& database_;
  Blobs blobs_;
};

}  // namespace tributary
