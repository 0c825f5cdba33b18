// Reads a run's tables from where it stopped the last time. Inner part of RunFollower.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/run/frame_facts.h"
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

  // Goes on through another connection, since the one before has failed. False: what is in the file
  // is not what was read so far; then `file` is left.
  Result<bool> reconnect(std::unique_ptr<RunFile>& file);
  // True: there is more at once. A file that was overwritten in its place is an error that
  // reconnecting tells.
  Result<bool> step(RunChanges& changes);
  RunFile& file() { return *file_; }

 private:
  // In this order, each up to its end, then the next; then again from the start. The second is for
  // the first time alone.
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
  // The run's first job, by which it is known again; 0: there is none yet.
  struct Mark {
    std::uint64_t first_job = 0;
    std::int64_t submitted_wall_ns = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  // The last row that was read of each table.
  struct Position {
    std::int64_t round = 0;
    std::int64_t round_end = 0;  // of what was there before the jobs were read
    std::int64_t metric = 0;
    std::int64_t report = 0;
    std::int64_t link_sample = 0;
    std::int64_t event = 0;
    std::int64_t plan = 0;
  };
  // Of what is read before other metrics: which one, from where, up to where.
  struct Headline {
    std::size_t index = 0;
    std::int64_t metric = 0;
    std::int64_t end = 0;
  };
  struct KnownJob {
    std::uint32_t revision = 0;
    JobDefinition definition = {};
  };

  Result<bool> is_the_same(Database& database);
  Result<bool> anything_new();
  Status begin(RunChanges& changes);
  Result<std::int64_t> first_date();
  // True: that was all.
  Result<bool> read(RunChanges& changes);
  Result<bool> read_jobs(RunChanges& changes);
  Status read_definition(std::uint64_t job, JobDefinition& definition);
  Result<bool> read_rounds(RunChanges& changes);
  Status count_contributors(std::span<const std::int64_t> round_rows, std::span<NewRound> rounds);
  Result<bool> read_headline(RunChanges& changes);
  Result<bool> read_agents(RunChanges& changes);
  Result<bool> read_metrics(RunChanges& changes);
  Result<bool> read_reports(RunChanges& changes);
  Result<bool> read_links(RunChanges& changes);
  Result<bool> read_events(RunChanges& changes);
  Result<bool> read_plans(RunChanges& changes);
  Status read_plan(Rows& row, RunChanges& changes);
  void read_frame(const wire::Plan& plan, std::uint32_t epoch, NewPlan& told);
  Status read_metric(Rows& row, std::int64_t& last, RunChanges& changes);
  Status read_ratios(RunChanges& changes);

  double seconds_of(std::int64_t wall_ns) const;
  double parameters_of(std::uint64_t job) const;

  std::unique_ptr<RunFile> file_;
  Portion portion_;
  Stage stage_ = Stage::idle;
  bool begun_ = false;
  bool overview_read_ = false;
  std::int64_t base_wall_ns_ = 0;
  std::int64_t data_version_ = -1;
  Mark mark_;
  std::map<std::uint64_t, KnownJob> jobs_;
  // The newest shares by member that a plan has told, and of which epoch's members.
  struct ToldRatios {
    std::uint64_t job = 0;
    std::uint32_t epoch = 0;
    std::vector<double> ratios = {};
  };
  ToldRatios told_ratios_;
  Bytes aligned_;  // of a frame
  Position position_;
  Headline headline_;
};

}  // namespace tributary
