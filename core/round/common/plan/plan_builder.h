// Makes the plan of a round from a job's policy, or from one as a planner has advised: the whole
// update in buckets.
#pragma once

#include "core/base/status.h"
#include "core/round/common/machine/policy.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

struct PlanRequest {
  RoundKey key;
  std::uint64_t model_hash = 0;
  Bitmap participants;          // of the members
  std::vector<double> weights;  // of the members
  std::uint32_t payload_bytes = 0;
  std::uint32_t payloads_in_flight_max = 1;
  wire::Collective collective = wire::Collective::star;
  std::uint32_t exchanges_per_round = 1;
  std::uint64_t bucket_values = 0;  // at most; 0: as the policy and the number of members have it
  // Of the members, what each keeps of what has an own_share(). Empty: all keep the codec's.
  std::vector<double> ratios = {};
  std::uint32_t deadline_ms = 0;
  wire::Trigger trigger = wire::Trigger::unchanged;
  std::string reason = "as the job's policy says";
  std::vector<wire::AlternativeT> alternatives = {};
  Bytes inputs = {};  // of the choice
  std::vector<std::string> trials = {};
  double trial_s = 0;
};

// Weight is left at 0: it is the receiver's.
Result<wire::PlanT> build_plan(const JobModel& job, const RoundPolicy& policy, CodecCache& cache,
                               const PlanRequest& request);

// What a set of contributors is divided by.
double divisor_of(const wire::PlanT& plan, const Bitmap& contributors,
                  const std::vector<double>& weights);

}  // namespace tributary
