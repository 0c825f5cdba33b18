// The context that the objects of one job share: the coordinator's context, the job's record and
// its definition. JobRun owns it and is the only one to change the record. The objects of the job
// are destroyed before it.
#pragma once

#include <memory>

#include "core/round/common/machine/records.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/coordinator/context/coordinator_context.h"

namespace tributary {

struct JobContext {
  CoordinatorContext& coordinator;
  JobRecord record;
  std::shared_ptr<const JobModel> model;

  std::uint64_t id() const { return record.job; }
  const RoundPolicy& policy() const { return record.policy; }
  bool running() const { return record.state == wire::JobState::running; }
};

}  // namespace tributary
