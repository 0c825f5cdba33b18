// A coordinator's journal for those who look on: dashboards and tools, also while the coordinator
// is running. Never writes. Every call is a transaction of its own, so that nobody waits.
//
// Threads: one at a time.
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
#include "core/store/coordinator/telemetry_rows.h"
#include "core/store/database/database.h"

namespace tributary {

// Numbers grow: what came after number n is what has come since n was read.
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

struct StoredMetric {
  std::int64_t number = 0;
  std::int64_t at_wall_ns = 0;
  std::string name;
  double value = 0;  // NaN: a gap
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::string agent_id;
};

// When a round was committed, by the calendar: RoundRecord's own times are of a process's clock,
// and begin anew with each restart.
struct RoundDate {
  std::uint64_t round = 0;
  std::int64_t committed_wall_ns = 0;
};

struct StoredLinkSample {
  std::int64_t number = 0;
  LinkSampleRecord sample;
};

class RunFile {
 public:
  // Files of earlier versions are read as they are: what they do not have is not known. A file that
  // a crash has left together with its log can only be read where the folder can be
  // written, or after a coordinator has opened it.
  static Result<std::unique_ptr<RunFile>> open(const std::string& path);

  Result<std::vector<JobRecord>> jobs();
  Result<std::vector<AgentRecord>> agents();
  // Ascending; last_round is the last one that is wanted.
  Result<std::vector<RoundRecord>> rounds(std::uint64_t job, std::uint64_t first_round,
                                          std::uint64_t last_round);
  Result<std::vector<RoundDate>> round_dates(std::uint64_t job, std::uint64_t first_round,
                                             std::uint64_t last_round);
  // One round, and the members that its bitmaps are about if their epoch is still kept.
  Result<RoundLoaded> load_round(std::uint64_t job, std::uint64_t round);
  // The number of the last committed round; 0 before the first.
  Result<std::uint64_t> last_round(std::uint64_t job);
  Result<std::vector<AgentRoundRecord>> agent_rounds(std::uint64_t job, std::uint64_t round) {
    return agent_rounds(job, round, round);
  }
  Result<std::vector<AgentRoundRecord>> agent_rounds(std::uint64_t job, std::uint64_t first_round,
                                                     std::uint64_t last_round);
  // What a coordinator would start this job with, of one moment: the newest checkpoint and all
  // commits after it, without what is before. Nothing where there is no such job.
  Result<std::optional<RestoredJob>> restore(std::uint64_t job);
  // All that are kept: those of rounds that are.
  Result<std::vector<EpochRecord>> epochs(std::uint64_t job);

  // The first rows_max after a number.
  Result<std::vector<StoredEvent>> events(std::int64_t after, std::uint32_t rows_max);
  Result<std::vector<StoredMetric>> metrics(std::string_view name, std::int64_t after,
                                            std::uint32_t rows_max);
  // Of all names.
  Result<std::vector<StoredMetric>> metrics(std::int64_t after, std::uint32_t rows_max);
  Result<std::vector<StoredLinkSample>> link_samples(std::int64_t after, std::uint32_t rows_max);

  // The columns decode_s and gain of agent_rounds, or what stands for them in an earlier version.
  std::string_view later_report_columns() const;

  // For questions that nobody thought of here.
  Database& database() { return *database_; }

 private:
  RunFile(std::unique_ptr<Database> database, std::uint32_t version)
      : database_(std::move(database)), version_(version) {}

  std::unique_ptr<Database> database_;
  std::uint32_t version_;
};

}  // namespace tributary
