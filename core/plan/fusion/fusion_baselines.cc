#include "core/plan/fusion/fusion_baselines.h"

#include <utility>

namespace tributary {
namespace {

FusionBaseline baseline(const FusionTimes& times, std::string_view name,
                        std::vector<std::uint32_t> groups) {
  const double iteration_s = fused_iteration_s(times, groups);
  return {.name = name, .groups = std::move(groups), .iteration_s = iteration_s};
}

// Keeps the shorter plan, and of two equally short plans the one with fewer groups.
void keep_better(FusionBaseline& best, FusionBaseline other) {
  const bool shorter = other.iteration_s < best.iteration_s;
  const bool simpler =
      other.iteration_s == best.iteration_s && other.groups.size() < best.groups.size();
  if (shorter || simpler) best = std::move(other);
}

FusionBaseline best_even_split(const FusionTimes& times) {
  constexpr std::string_view kName = "even_split";
  FusionBaseline best = baseline(times, kName, split_evenly(times, 1));
  for (std::uint32_t groups = 2; groups <= times.tensors(); ++groups) {
    keep_better(best, baseline(times, kName, split_evenly(times, groups)));
  }
  return best;
}

// Thresholds are powers of two up to the size of the model; beyond it all tensors are one group.
FusionBaseline best_threshold(const FusionTimes& times) {
  constexpr std::string_view kName = "size_threshold";
  FusionBaseline best = baseline(times, kName, split_by_size(times, 0));
  for (double bytes = 1; bytes < 2 * times.bytes(0, times.tensors()); bytes *= 2) {
    keep_better(best, baseline(times, kName, split_by_size(times, bytes)));
  }
  return best;
}

}  // namespace

std::vector<std::uint32_t> split_evenly(const FusionTimes& times, std::uint32_t groups) {
  const std::uint32_t size = times.tensors() / groups;
  const std::uint32_t larger = times.tensors() % groups;
  std::vector<std::uint32_t> counts(groups, size);
  for (std::uint32_t i = 0; i < larger; ++i) ++counts[i];
  return counts;
}

std::vector<std::uint32_t> split_by_size(const FusionTimes& times, double threshold_bytes) {
  std::vector<std::uint32_t> counts;
  std::uint32_t begin = 0;
  for (std::uint32_t end = 1; end <= times.tensors(); ++end) {
    // The last group may stay smaller than the threshold.
    if (end < times.tensors() && times.bytes(begin, end) < threshold_bytes) continue;
    counts.push_back(end - begin);
    begin = end;
  }
  return counts;
}

std::array<FusionBaseline, 4> fusion_baselines(const FusionTimes& times) {
  return {baseline(times, "layer_wise", split_evenly(times, times.tensors())),
          baseline(times, "one_bucket", split_evenly(times, 1)), best_even_split(times),
          best_threshold(times)};
}

}  // namespace tributary
