// Makes the plan of a round from a job's policy or from a planner's decision: codec and collective,
// and the division of the whole update into buckets.
//
// The functions are pure, apart from the cache: the same job, policy and request give the same
// plan. The result is checked again by RoundPlan::make() on both sides.
#pragma once

#include "core/base/status.h"
#include "core/round/common/machine/policy.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// The input of a plan that does not follow from the job and its policy.
struct PlanRequest {
  RoundKey key;
  std::uint64_t model_hash = 0;
  Bitmap participants;          // one bit per member
  std::vector<double> weights;  // one per member
  std::uint32_t payload_bytes = 0;
  std::uint32_t payloads_in_flight_max = 1;
  wire::Collective collective = wire::Collective::star;
  // With the collective in_network: the aggregator's address of packets, and its epoch.
  std::string aggregator = {};
  wire::SumsInNetworkT sums = {};
  std::uint32_t exchanges_per_round = 1;
  bool standalone = false;       // every member decodes results that contain standalone payloads
  bool divides_results = false;  // every member uploads segments of results
  // Upper bound; 0: determined by the policy and the number of members.
  std::uint64_t bucket_values = 0;
  // With the policy's fusion "optimal": the groups, as numbers of consecutive layers that are not
  // exact, the last layers first. Other rules ignore it. Empty: one group for each layer.
  std::vector<std::uint32_t> groups = {};
  bool profile_requested = false;
  // Share of the values that each member keeps, for codecs with an own_share(). Empty: all keep the
  // codec's ratio.
  std::vector<double> ratios = {};
  std::uint32_t deadline_ms = 0;
  wire::Trigger trigger = wire::Trigger::unchanged;
  std::string reason = "as the job's policy says";
  std::vector<wire::AlternativeT> alternatives = {};
  Bytes inputs = {};  // inputs of the decision, for the journal
  std::vector<std::string> trials = {};
  double trial_s = 0;
};

// Makes the plan. `weight` stays 0, because it differs for each receiver. Returns the error of a
// codec's spec or of the division into buckets.
Result<wire::PlanT> build_plan(const JobModel& job, const RoundPolicy& policy, CodecCache& cache,
                               const PlanRequest& request);

// The number of participants that must contribute to a result.
std::uint32_t quorum_of(const RoundPolicy& policy, std::uint32_t participants);

// Number of the job's layers that fusion groups: all but the exact ones.
std::uint32_t fused_layers(const JobModel& job);

// Number of a plan's buckets that hold layers that are not exact.
std::uint32_t fused_buckets(const JobModel& job, const RoundPlan& plan);

// Upper bound on the values of a bucket in the plans of a job that follows this policy.
std::uint64_t bucket_values_bound(const JobModel& job, const RoundPolicy& policy,
                                  CodecCache& cache);

// The number by which the sum of these contributors is divided: their count, the sum of their
// weights, or 1, according to the plan. `weights` has one entry per member.
double divisor_of(const wire::PlanT& plan, const Bitmap& contributors,
                  const std::vector<double>& weights);

}  // namespace tributary
