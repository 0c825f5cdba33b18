// The coordinator's journal: jobs, epochs, rounds with their plans, redo and checkpoints, from
// which it restarts; and what people want to know: agents, reports, events, readings, links.
//
// While it is open others may read the file (RunFile, or sqlite3 -readonly), and none may write.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/records.h"
#include "core/store/coordinator/bounded_table.h"
#include "core/store/coordinator/telemetry_rows.h"
#include "core/store/database/blobs.h"
#include "core/store/database/journal.h"

namespace tributary {

struct CoordinatorJournalOptions {
  JournalOptions journal;
  // Rounds up to the checkpoint that restore() gives back of each job.
  std::uint64_t history_rounds_max = 256;
  Retention retention = {};
};

class CoordinatorJournal {
 public:
  static Result<std::unique_ptr<CoordinatorJournal>> open(const CoordinatorJournalOptions& options);

  // Durable once it is ok, and not there at all otherwise; worth_retrying() says whether asking
  // again makes sense. One case is open: after an error while syncing, a crash may still bring the
  // record to light. A round that is stored again replaces itself.
  Status store(const CoordinatorRecord& record);
  // What can be done while nobody waits; the next record does it otherwise.
  void rest() { database().copy_long_log(); }
  Result<CoordinatorState> restore();
  Result<RoundLoaded> load_round(const LoadRound& wanted);

  // One transaction, and one sync: to be called with what has gathered in a second or so. More than
  // kTelemetryRowsMax rows are refused.
  Status add(const TelemetryRows& rows);

  Database& database() { return *owned_.database; }

 private:
  enum Table { agent_rounds, events, metrics, link_samples };

  CoordinatorJournal(OwnedDatabase owned, const CoordinatorJournalOptions& options);
  template <typename Function>
  Status in_transaction(Function&& function);

  Status put(const NewJobRecord& record);
  Status put(const JobRecord& record);
  Status put(const EpochRecord& record);
  Status put(const CommitRecord& record);
  Status put(const AgentRecords& records);
  Status put(const CheckpointRecord& record);
  Status put(const DatedNote& event);
  Status put(const DatedReading& metric);
  Status put(const LinkSampleRecord& sample);

  // What is stored of this round goes: it is stored again.
  Status forget_round(const RoundKey& id);
  Result<std::int64_t> put_round(const RoundRecord& round);
  Status put_plan(std::int64_t row, const SharedBytes& frame);
  Status put_redo(std::int64_t row, const RedoPayload& payload, std::uint64_t place);
  Status put_aggregator_residual(std::uint64_t job, const SharedFloats& residual);
  Status forget_epochs_before(const RoundKey& id);
  // Takes the blobs out of the tables that name them.
  Status drop_redo_up_to(std::uint64_t job, std::uint64_t round, std::vector<BlobId>& dropped);
  Status put_reports(const std::vector<AgentRoundRecord>& reports);
  Result<std::int64_t> number_of_agent(const std::string& agent_id);

  std::int64_t now_wall_ns() const { return wall_time_ns(clock_); }

  OwnedDatabase owned_;
  Blobs blobs_;
  const Clock& clock_;
  std::uint64_t history_rounds_max_;
  std::array<BoundedTable, 4> tables_;
  // What is known of the tables without asking; nothing, after a transaction failed.
  std::map<std::string, std::int64_t> agent_numbers_;
  std::map<std::uint64_t, std::uint32_t> epochs_looked_at_;  // by job
};

}  // namespace tributary
