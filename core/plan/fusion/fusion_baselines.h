// Fusion rules of other systems, to compare plan_fusion() with. A rule with a parameter is
// evaluated at its best value. All functions are pure.
//
// The times must come from a profile that check_fusion_profile() accepts. The best split into equal
// groups is found by trying every number of groups, so the cost is quadratic in the number of
// tensors.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/plan/fusion/fusion_times.h"

namespace tributary {

// The best groups of one rule.
struct FusionBaseline {
  std::string_view name;
  std::vector<std::uint32_t> groups;
  double iteration_s = 0;
};

// Returns, in this order:
//   layer_wise       every tensor is a group
//   one_bucket       all tensors are one group
//   even_split       groups of equally many tensors; the best number of groups
//   size_threshold   a group ends once it has a given size; the best power of two, in bytes
std::array<FusionBaseline, 4> fusion_baselines(const FusionTimes& times);

// Divides the tensors into `groups` groups that differ by at most one tensor, the larger ones
// first.
std::vector<std::uint32_t> split_evenly(const FusionTimes& times, std::uint32_t groups);
// Ends a group as soon as its tensors have `threshold_bytes` bytes or more.
std::vector<std::uint32_t> split_by_size(const FusionTimes& times, double threshold_bytes);

}  // namespace tributary
