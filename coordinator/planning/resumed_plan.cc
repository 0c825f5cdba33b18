#include "coordinator/planning/resumed_plan.h"

#include <optional>
#include <utility>

#include "coordinator/planning/last_decision.h"
#include "coordinator/planning/plan_spent.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

Status resume_plan(PlanService& planner, std::uint64_t job, const std::filesystem::path& journal,
                   const Clock& clock) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<RunFile> run, RunFile::open(journal));
  TRIBUTARY_ASSIGN(const PlanSpent spent, read_spent(*run, job, wall_time_ns(clock)));
  planner.spent(job, spent);
  TRIBUTARY_ASSIGN(std::optional<PlanInputs> inputs, last_decision(*run, job));
  if (inputs) planner.resume(job, *std::move(inputs));
  return {};
}

}  // namespace tributary
