#include "cli/job/newest_model.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "core/round/coordinator/coordinator.h"

namespace tributary {

Result<NewestModel> newest_model(RunFile& run, std::uint64_t job) {
  TRIBUTARY_ASSIGN(std::optional<RestoredJob> restored, run.restore(job));
  if (!restored) {
    return Status(StatusCode::not_found, {.what = fmt::format("job {}", job),
                                          .expected = "a job in the journal",
                                          .got = "no job with this number",
                                          .remedy = "list the jobs with 'tributary job list'"});
  }
  // A coordinator without links restores the model exactly as a real one does at its start.
  CoordinatorState state;
  state.jobs.push_back(std::move(*restored));
  TRIBUTARY_ASSIGN(const std::unique_ptr<Coordinator> coordinator,
                   Coordinator::make({}, std::move(state)));
  return NewestModel{.version = coordinator->model_version(),
                     .hash = coordinator->model_hash(),
                     .values = coordinator->model()};
}

}  // namespace tributary
