// Reads a coordinator's journal from another process: for dashboards and tools, also while the
// coordinator runs. It never writes. No transaction lasts longer than a call, and a call that reads
// many rows takes several, so that the coordinator can copy its log between them. Only restore()
// reads a whole model in one.
//
// Used by one thread at a time. Calls fail with unavailable (locked), corrupt_data or io_error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log/log.h"
#include "core/base/status.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/records.h"
#include "core/store/coordinator/missing_rounds.h"
#include "core/store/coordinator/telemetry_rows.h"
#include "core/store/database/database.h"

namespace tributary {

// `number` increases: rows after number n are those that were added since n was read.
struct StoredEvent {
  std::int64_t number = 0;
  std::int64_t at_wall_ns = 0;
  LogLevel level = LogLevel::info;
  std::string name;
  std::string reason;
  std::string source;
  std::string text;
  std::uint64_t job = 0;
  std::uint64_t round = 0;
};

// A row of the metrics.
struct StoredMetric {
  std::int64_t number = 0;
  std::int64_t at_wall_ns = 0;
  std::string name;
  double value = 0;  // NaN: no value
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::string agent_id;
};

// Calendar time of a commit. RoundRecord's own times come from a process clock that starts again
// with each restart.
struct RoundDate {
  std::uint64_t round = 0;
  std::int64_t committed_wall_ns = 0;
};

// A row of the link samples.
struct StoredLinkSample {
  std::int64_t number = 0;
  LinkSampleRecord sample;
};

class RunFile {
 public:
  // Opens the file read-only. Files of earlier versions are read as they are; values that they lack
  // are unknown. If a crash left a log beside the file, the folder must be writable, or a
  // coordinator must have opened the file since. Fails with unsupported if the file is empty or has
  // a newer version.
  static Result<std::unique_ptr<RunFile>> open(const std::string& path);

  // The rounds that no call of this object returns, because they are not in the file. log_missing
  // is never true for a file of version 3 or less.
  Result<MissingRounds> missing();

  Result<std::vector<JobRecord>> jobs();
  Result<std::vector<AgentRecord>> agents();
  // In ascending order; both bounds are included.
  Result<std::vector<RoundRecord>> rounds(std::uint64_t job, std::uint64_t first_round,
                                          std::uint64_t last_round);
  Result<std::vector<RoundDate>> round_dates(std::uint64_t job, std::uint64_t first_round,
                                             std::uint64_t last_round);
  // One round, with the members that its bitmaps refer to if their epoch is still stored.
  Result<RoundLoaded> load_round(std::uint64_t job, std::uint64_t round);
  // Number of the last committed round; 0 before the first.
  Result<std::uint64_t> last_round(std::uint64_t job);
  // Wait, decode time and bytes of a round stand in the file with the agent's next report; here
  // they stand at the round to which they belong. They are unknown (NaN, 0 bytes) in an agent's
  // last report, and if its next one is more than 16 rounds later.
  Result<std::vector<AgentRoundRecord>> agent_rounds(std::uint64_t job, std::uint64_t round) {
    return agent_rounds(job, round, round);
  }
  Result<std::vector<AgentRoundRecord>> agent_rounds(std::uint64_t job, std::uint64_t first_round,
                                                     std::uint64_t last_round);
  // The state from which a coordinator would start this job, at one moment: the newest checkpoint
  // and all commits after it, without history. Empty if the job does not exist.
  Result<std::optional<RestoredJob>> restore(std::uint64_t job);
  // All stored epochs: those of stored rounds.
  Result<std::vector<EpochRecord>> epochs(std::uint64_t job);

  // The first rows_max rows after number `after`.
  Result<std::vector<StoredEvent>> events(std::int64_t after, std::uint32_t rows_max);
  Result<std::vector<StoredMetric>> metrics(std::string_view name, std::int64_t after,
                                            std::uint32_t rows_max);
  // Metrics of all names.
  Result<std::vector<StoredMetric>> metrics(std::int64_t after, std::uint32_t rows_max);
  Result<std::vector<StoredLinkSample>> link_samples(std::int64_t after, std::uint32_t rows_max);

  // The facts of a round at the coordinator (wire::RoundMechanisms, packed); null if they are not
  // stored.
  Result<SharedBytes> round_mechanisms(std::uint64_t job, std::uint64_t round);

  // Column expressions for decode_s and gain of agent_rounds; NULLs for a file of an earlier
  // version.
  std::string_view later_report_columns() const;

  // For queries that this interface does not offer.
  Database& database() { return *database_; }

 private:
  Result<std::optional<std::uint64_t>> end_of_report_page(std::uint64_t job,
                                                          std::uint64_t first_round,
                                                          std::uint64_t last_round);
  // Appends the reports as they stand in the file.
  Status read_reports(std::uint64_t job, std::uint64_t first_round, std::uint64_t last_round,
                      std::vector<AgentRoundRecord>& reports);
  // The same for the column with the facts of a round.
  std::string_view mechanisms_column() const;

  RunFile(std::unique_ptr<Database> database, std::uint32_t version)
      : database_(std::move(database)), version_(version) {}

  std::unique_ptr<Database> database_;
  std::uint32_t version_;
};

}  // namespace tributary
