// Jobs as a coordinator's journal has them, whether the coordinator runs or not; and the way to ask
// it for a change.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "core/round/common/plan/job_model.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

// Which coordinator is meant: --run FILE, or TRIBUTARY_RUN, or the installed one's.
Option run_option(std::string& run_file);
std::string usual_run_file();
// JOB, by its place: a name or a number.
Option job_option(std::string& job);

struct JobInJournal {
  JobRecord record;
  std::shared_ptr<const JobModel> model;
  std::uint64_t rounds_committed = 0;

  std::string name() const { return model->wire().name()->str(); }
  std::uint64_t rounds() const { return model->wire().rounds(); }
  std::string state() const { return wire::EnumNameJobState(record.state); }
  bool over() const;
};

Result<std::vector<JobInJournal>> jobs_in(RunFile& run);
// By name or number. Of several of one name, the one that is not over, or else the last.
Result<JobInJournal> job_in(RunFile& run, std::string_view job);

// The newest of a series of the coordinator's own; NaN: none yet. `after` is where to go on.
Result<double> newest_metric(RunFile& run, std::string_view name, std::uint64_t job,
                             std::int64_t& after);

// The sum of such a series, as far as the journal keeps it.
Result<double> sum_of_metric(RunFile& run, std::string_view name, std::uint64_t job);

// The coordinator's answer, without its envelope (core/service/operator_talk.h).
Result<nlohmann::ordered_json> ask_coordinator(const std::string& run_file,
                                               std::string_view question);

}  // namespace tributary
