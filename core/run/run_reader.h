// Reads a run's tables from the position of the last call. Internal part of RunFollower; used by
// its thread.
//
// Each step reads a bounded number of rows. Texts and counts are bounded in the queries, because
// the file may be hostile.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/run/frame_facts.h"
#include "core/run/round_counts.h"
#include "core/run/run_changes.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

class RunReader {
 public:
  struct Portion {
    std::uint32_t rows_max = 0;
    std::uint32_t events_max = 0;
  };

  RunReader(std::unique_ptr<RunFile> file, Portion portion);

  // Continues with another connection after the last one failed. Returns false and leaves `file`
  // unchanged if the file's content is not the run that was read so far.
  Result<bool> reconnect(std::unique_ptr<RunFile>& file);
  // True: more data is available at once. A file that was overwritten in place gives an error, and
  // the next reconnect() detects the new run.
  Result<bool> step(RunChanges& changes);
  RunFile& file() { return *file_; }

 private:
  // The tables in the order of reading. Each is read to its end; after the last one, reading starts
  // again. `headline` is read only the first time.
  enum class Stage {
    idle,
    jobs,
    rounds,
    headline,
    agents,
    metrics,
    reports,
    links,
    events,
    plans,
    end,
  };
  // The run's first job, which identifies the run; 0: no job yet.
  struct Mark {
    std::uint64_t first_job = 0;
    std::int64_t submitted_wall_ns = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  // Key of the last row that was read of each table.
  struct Position {
    std::int64_t round = 0;
    std::int64_t round_end = 0;  // last round row that existed before the jobs were read
    std::int64_t metric = 0;
    std::int64_t report = 0;
    std::int64_t link_sample = 0;
    std::int64_t event = 0;
    std::int64_t plan = 0;
  };
  // Position in the metrics that are read before all others.
  struct Headline {
    std::size_t index = 0;
    std::int64_t metric = 0;
    std::int64_t end = 0;
  };
  struct KnownJob {  // values from the job's definition
    std::uint32_t revision = 0;
    JobDefinition definition = {};
  };

  Result<bool> is_the_same(Database& database);
  Result<bool> anything_new();
  Status begin(RunChanges& changes);
  Status look_for_missing(RunChanges& changes);
  Result<std::int64_t> first_date();
  // True: the table has been read to its end.
  Result<bool> read(RunChanges& changes);
  Result<bool> read_jobs(RunChanges& changes);
  Status read_definition(std::uint64_t job, JobDefinition& definition);
  Result<bool> read_rounds(RunChanges& changes);
  Result<RoundCounts> count(std::int64_t round_row, std::uint32_t members, std::uint32_t buckets,
                            ByteSpan packed_outcomes);
  Result<bool> read_headline(RunChanges& changes);
  Result<bool> read_agents(RunChanges& changes);
  Result<bool> read_metrics(RunChanges& changes);
  Result<bool> read_reports(RunChanges& changes);
  Result<bool> read_links(RunChanges& changes);
  Result<bool> read_events(RunChanges& changes);
  Result<bool> read_plans(RunChanges& changes);
  Status read_plan(Rows& row, RunChanges& changes);
  void read_frame(const wire::Plan& plan, std::uint32_t epoch, NewPlan& new_plan);
  Status read_metric(Rows& row, std::int64_t& last, RunChanges& changes);
  Status read_ratios(RunChanges& changes);

  double seconds_of(std::int64_t wall_ns) const;
  double parameters_of(std::uint64_t job) const;

  std::unique_ptr<RunFile> file_;
  Portion portion_;
  Stage stage_ = Stage::idle;
  bool begun_ = false;
  bool overview_read_ = false;
  MissingRounds missing_;
  std::int64_t base_wall_ns_ = 0;
  std::int64_t data_version_ = -1;
  Mark mark_;
  std::map<std::uint64_t, KnownJob> jobs_;
  // The newest ratios of a plan, and the epoch to whose members they belong.
  struct PlannedRatios {
    std::uint64_t job = 0;
    std::uint32_t epoch = 0;
    std::vector<double> ratios = {};
  };
  PlannedRatios planned_ratios_;
  Bytes aligned_;  // buffer for a frame that is not aligned
  Position position_;
  Headline headline_;
};

}  // namespace tributary
