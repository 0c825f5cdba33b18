// Reads jobs from a coordinator's journal, whether the coordinator runs or not, and sends requests
// to a running coordinator.
//
// Reading opens the file beside the coordinator and never locks it out. Requests go through the
// coordinator's local socket, which accepts only the user that runs it. One thread.
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

// Selects the coordinator: --run FILE, otherwise $TRIBUTARY_RUN, otherwise the installed one.
Option run_option(std::string& run_file);
// The journal that is used without --run.
std::string usual_run_file();
// The positional argument JOB: a name or a number.
Option job_option(std::string& job);

// A job with its definition and progress.
struct JobInJournal {
  JobRecord record;
  std::shared_ptr<const JobModel> model;
  std::uint64_t rounds_committed = 0;

  std::string name() const { return model->wire().name()->str(); }
  std::uint64_t rounds() const { return model->wire().rounds(); }
  std::string state() const { return wire::EnumNameJobState(record.state); }
  // Whether the job is finished or was stopped.
  bool over() const;
};

Result<std::vector<JobInJournal>> jobs_in(RunFile& run);
// Finds a job by name or number. Among several with the name, prefers one that has not ended,
// otherwise the last. Fails with not_found; the error lists the names.
Result<JobInJournal> job_in(RunFile& run, std::string_view job);

// Returns the newest value of a series of the coordinator itself; NaN if there is none. Only rows
// after `after` are read; it advances for the next call.
Result<double> newest_metric(RunFile& run, std::string_view name, std::uint64_t job,
                             std::int64_t& after);

// Returns the sum of such a series, over the rows that the journal still has.
Result<double> sum_of_metric(RunFile& run, std::string_view name, std::uint64_t job);

// Sends a request and returns the answer without its envelope (core/service/operator_messages.h).
// Waits up to 30 s; fails with the coordinator's error or if it does not run.
Result<nlohmann::ordered_json> ask_coordinator(const std::string& run_file,
                                               std::string_view question);

}  // namespace tributary
