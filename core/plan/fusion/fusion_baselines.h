// What others do: fixed rules, the best of each where it has a parameter.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/plan/fusion/fusion_times.h"

namespace tributary {

struct FusionBaseline {
  std::string_view name;
  std::vector<std::uint32_t> groups;
  double iteration_s = 0;
};

// layer_wise       every tensor by itself
// one_bucket       all at once
// even_split       groups of as many tensors each; the best number of groups
// size_threshold   a group is closed when it has so many bytes; the best power of two
std::array<FusionBaseline, 4> fusion_baselines(const FusionTimes& times);

// `groups` of nearly as many tensors, the larger ones first.
std::vector<std::uint32_t> split_evenly(const FusionTimes& times, std::uint32_t groups);
std::vector<std::uint32_t> split_by_size(const FusionTimes& times, double threshold_bytes);

}  // namespace tributary
