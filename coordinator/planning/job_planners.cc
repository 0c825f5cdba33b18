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

Result<Planner*> JobPlanners::planner_of(const Job& job) {
  const auto known = planners_.find(job.id);
  if (known != planners_.end() && (known->second.in_network || !job.in_network_codec)) {
    used_last_ = job.id;
    return &known->second.planner;
  }
  TRIBUTARY_TRY(measure_codecs(job.agents));
  std::vector<PlanCodec> codecs = codecs_;
  if (!job.in_network_codec) {
    std::erase_if(codecs, [](const PlanCodec& codec) { return codec.spec == kInNetworkCodec; });
  }
  PlannerConfig config = {.values = job.values,
                          .codecs = std::move(codecs),
                          .measured_on = own_speeds_,
                          .agreement = kAgreementAssumed,
                          .message_s = kMessageAssumed_s,
                          .settled = true,
                          .trains_ahead = true};
  Known made = {.planner = Planner(std::move(config)), .in_network = job.in_network_codec};
  const auto last = planners_.find(used_last_);
  if (const auto before = resumed_.extract(job.id)) {
    made.planner.resume(before.mapped());
  } else if (last != planners_.end()) {
    made.planner.continue_from(last->second.planner);
  }
  if (known == planners_.end() && planners_.size() >= kJobsMax) planners_.clear();
  used_last_ = job.id;
  return &planners_.insert_or_assign(job.id, std::move(made)).first->second.planner;
}

}  // namespace tributary
