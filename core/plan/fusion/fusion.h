// Plans which consecutive tensors are compressed and sent together as one group.
//
// Many small groups overlap well but pay the start-up cost of every stage many times. Few large
// groups wait for one another. plan_fusion() finds the cut with the shortest iteration. It is a
// pure, thread-safe function. docs/fusion.md has the model, the measurements, and the differences
// from Cupcake's search.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/plan/fusion/fusion_profile.h"

namespace tributary {

// Groups of consecutive tensors, and the iteration time that they give.
struct FusionPlan {
  // Numbers of consecutive tensors, in the order of the profile.
  std::vector<std::uint32_t> groups;
  // Time from the start of the backward pass to the end of the last decoding.
  double iteration_s = 0;
  // Whether it is proven that no other cut takes less time, and none with the same time has fewer
  // groups.
  bool optimal = false;
};

// Bounds on the effort of a search.
struct FusionLimits {
  // Bound on the number of recurrence cells that a search with decoding may compute. A search that
  // reaches it returns the best plan found, with `optimal` false. Without decoding, at most
  // kFusionTensorsMax squared cells are computed.
  std::uint64_t steps_max = std::uint64_t{1} << 30;
};

// Returns the error of check_fusion_profile() if the profile is invalid. The plan is the same on
// every machine, except where rounding decides between plans of equal time.
Result<FusionPlan> plan_fusion(const FusionProfile& profile, const FusionLimits& limits = {});

}  // namespace tributary
