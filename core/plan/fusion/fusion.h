// Which tensors to compress and to send together: many small groups overlap well and pay the start
// of every stage many times, few large ones wait for one another. docs/fusion.md has the model,
// what was measured, and where this differs from Cupcake's search.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/plan/fusion/fusion_profile.h"

namespace tributary {

struct FusionPlan {
  // Counts of consecutive tensors, in the order of the profile.
  std::vector<std::uint32_t> groups;
  double iteration_s = 0;  // from the start of the backward pass to the end of the last decoding
  // No cut of the tensors into consecutive groups takes less time, and none that takes as long has
  // fewer groups.
  bool optimal = false;
};

struct FusionLimits {
  // Cells of the recurrence that a search may compute where decoding takes time; a plan that is not
  // proven by then says so. Without decoding there are never more than kFusionTensorsMax squared.
  std::uint64_t steps_max = std::uint64_t{1} << 30;
};

// The same plan for the same profile on every machine, but for what rounding does to ties.
Result<FusionPlan> plan_fusion(const FusionProfile& profile, const FusionLimits& limits = {});

}  // namespace tributary
