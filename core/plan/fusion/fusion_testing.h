// Reference algorithms for fusion planning. Each is slow and simple in a different way. The tests
// compare the planner with them, and the benchmark times them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/plan/fusion/fusion.h"
#include "core/plan/fusion/fusion_times.h"

namespace tributary::fusion_testing {

inline FusionPlan better(const FusionTimes& times, FusionPlan best,
                         const std::vector<std::uint32_t>& groups) {
  const double iteration_s = fused_iteration_s(times, groups);
  const bool simpler = iteration_s == best.iteration_s && groups.size() < best.groups.size();
  if (iteration_s < best.iteration_s || simpler)
    best = {.groups = groups, .iteration_s = iteration_s};
  return best;
}

inline FusionPlan no_plan() {
  FusionPlan plan;
  plan.iteration_s = std::numeric_limits<double>::infinity();
  return plan;
}

// Tries all 2^(N-1) cuts.
inline FusionPlan brute_force(const FusionProfile& profile) {
  const FusionTimes times(profile);
  FusionPlan best = no_plan();
  for (std::uint32_t cuts = 0; cuts < 1u << (times.tensors() - 1); ++cuts) {
    std::vector<std::uint32_t> groups = {1};
    for (std::uint32_t i = 0; i + 1 < times.tensors(); ++i) {
      if ((cuts >> i & 1) != 0) {
        groups.push_back(1);
      } else {
        ++groups.back();
      }
    }
    best = better(times, std::move(best), groups);
  }
  return best;
}

// The recurrence as it is written, in O(N^3), without decoding. D is indexed by groups and tensors.
inline double plain_recurrence_s(const FusionProfile& profile) {
  const FusionTimes times(profile);
  const std::uint32_t all = times.tensors();
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> before(all + 1, kNever);
  before[0] = 0;
  double best = kNever;
  for (std::uint32_t groups = 1; groups <= all; ++groups) {
    std::vector<double> row(all + 1, kNever);
    for (std::uint32_t end = groups; end <= all; ++end) {
      for (std::uint32_t begin = groups - 1; begin < end; ++begin) {
        const double start = std::max(before[begin], times.compressed_s(groups, end));
        row[end] = std::min(row[end], start + times.send_s(begin, end));
      }
    }
    best = std::min(best, row[all]);
    before = std::move(row);
  }
  return best;
}

// The result of the recurrence with decoding. A cell holds all pairs (end of sending, end of
// decoding) that no other pair of the cell beats in both.
struct ParetoOutcome {
  double iteration_s = std::numeric_limits<double>::infinity();
  std::size_t largest_set = 0;
  std::size_t pairs = 0;  // in all sets
};

using Ends = std::vector<std::pair<double, double>>;

inline Ends pareto_of(Ends ends) {
  std::ranges::sort(ends);
  Ends kept;
  for (const auto& each : ends) {
    if (kept.empty() || each.second < kept.back().second) kept.push_back(each);
  }
  return kept;
}

inline ParetoOutcome pareto_sets(const FusionProfile& profile) {
  const FusionTimes times(profile);
  const std::uint32_t all = times.tensors();
  ParetoOutcome outcome;
  std::vector<Ends> before(all + 1);
  before[0] = {{0, 0}};
  for (std::uint32_t groups = 1; groups <= all; ++groups) {
    std::vector<Ends> row(all + 1);
    for (std::uint32_t end = groups; end <= all; ++end) {
      Ends ends;
      for (std::uint32_t begin = groups - 1; begin < end; ++begin) {
        for (const auto& [sent_s, decoded_s] : before[begin]) {
          const double now_s =
              std::max(sent_s, times.compressed_s(groups, end)) + times.send_s(begin, end);
          ends.emplace_back(now_s, std::max(decoded_s, now_s) + times.decode_s(begin, end));
        }
      }
      row[end] = pareto_of(std::move(ends));
      outcome.largest_set = std::max(outcome.largest_set, row[end].size());
      outcome.pairs += row[end].size();
    }
    for (const auto& each : row[all])
      outcome.iteration_s = std::min(outcome.iteration_s, each.second);
    before = std::move(row);
  }
  return outcome;
}

// Cupcake's Algorithm 1 with both of its prunings, for profiles without decoding. It corrects two
// errors of the printed algorithm: that one never compares the single group of all tensors with the
// best plan, and it counts the start of a compression for an empty rest.
class PaperSearch {
 public:
  explicit PaperSearch(const FusionProfile& profile, std::uint64_t calls_max = ~std::uint64_t{0})
      : times_(profile), calls_max_(calls_max), best_(no_plan()) {}

  FusionPlan run() {
    for (std::uint32_t end = 1; end <= times_.tensors() && !gave_up(); ++end) {
      groups_.push_back(end);
      find(end, times_.compressed_s(1, end) + times_.send_s(0, end));
      groups_.pop_back();
    }
    best_.optimal = !gave_up();
    return best_;
  }

 private:
  bool gave_up() const { return calls_ > calls_max_; }

  // Extends a partial plan of the tensors before `begin`, whose last group is sent at `sent_s`.
  void find(std::uint32_t begin, double sent_s) {
    if (++calls_ > calls_max_) return;
    const std::uint32_t all = times_.tensors();
    if (begin == all) {
      if (sent_s < best_.iteration_s) best_ = {.groups = groups_, .iteration_s = sent_s};
      return;
    }
    const auto made = static_cast<std::uint32_t>(groups_.size());
    // Second pruning: up to `first`, another tensor is compressed while the network is busy.
    std::uint32_t first = begin + 1;
    while (first < all && times_.compressed_s(made + 1, first + 1) <= sent_s) ++first;
    for (std::uint32_t end = first; end <= all; ++end) {
      const double ready_s = times_.compressed_s(made + 1, end);
      const double now_s = std::max(ready_s, sent_s) + times_.send_s(begin, end);
      // First pruning: all remaining tensors in one more group that does not wait for the network.
      const bool rest = end < all;
      const double by_device = times_.compressed_s(rest ? made + 2 : made + 1, all);
      const double by_network = now_s + (rest ? times_.send_s(end, all) : 0);
      if (std::max(by_device, by_network) > best_.iteration_s) continue;
      groups_.push_back(end - begin);
      find(end, now_s);
      groups_.pop_back();
    }
  }

  const FusionTimes times_;
  const std::uint64_t calls_max_;
  std::uint64_t calls_ = 0;
  std::vector<std::uint32_t> groups_;
  FusionPlan best_;
};

}  // namespace tributary::fusion_testing
