#include "coordinator/planning/job_planners.h"

#include <utility>

namespace tributary {
namespace {

// Assumed PlanInputs::agreement; it is not measured.
constexpr double kAgreementAssumed = 0.5;
// Assumed CPU time per message at each end, regardless of its size; it is not measured. Without it
// a plan divides models into ever smaller buckets.
constexpr double kMessageAssumed_s = 50e-6;

}  // namespace

Status JobPlanners::measure_codecs(std::uint32_t agents) {
  if (!codecs_.empty()) return {};
  TRIBUTARY_ASSIGN(codecs_, measure_(agents, go_on_));
  own_speeds_ = measure_speeds_(go_on_);
  return {};
}

void JobPlanners::resume(std::uint64_t job, Planned planned) {
  if (resumed_.size() < kJobsMax) resumed_.insert_or_assign(job, std::move(planned));
}

Result<Planner*> JobPlanners::planner_of(std::uint64_t job, std::uint64_t values,
                                         std::uint32_t agents) {
  const auto known = planners_.find(job);
  if (known != planners_.end()) return &known->second;
  TRIBUTARY_TRY(measure_codecs(agents));
  if (planners_.size() >= kJobsMax) planners_.clear();
  PlannerConfig config = {.values = values,
                          .codecs = codecs_,
                          .measured_on = own_speeds_,
                          .agreement = kAgreementAssumed,
                          .message_s = kMessageAssumed_s,
                          .settled = true};
  Planner& planner = planners_.emplace(job, Planner(std::move(config))).first->second;
  if (const auto before = resumed_.extract(job)) planner.resume(before.mapped());
  return &planner;
}

}  // namespace tributary
