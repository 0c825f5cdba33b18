// Finds the best groups if decoding takes time, with FusionRows and deadlines.
//
// The search keeps the best known plan, T in G groups. For J = 1, 2, ... it asks for a shorter plan
// of J groups (or an equally short one, if J < G). The rows answer with the least number of groups
// J' that meets the deadlines for J and more groups. This excludes J to J' - 1. If J' = J, the plan
// is indeed shorter. If no J' exists, no number of groups can improve the plan, and the proof is
// complete.
//
// Meeting in the middle excludes many numbers of groups at once. Rows from the front are exact
// about the device and count too few decodings for plans of more than J groups. Rows from behind,
// the same problem mirrored, are exact about decoding and count too few compressions. If J groups
// are sent within T, then some number of tensors k is sent after h groups with
//
//   front[h][k] + behind[J - h][N - k] <= T
//
// and J is asked only if such a k exists.
//
// Before the proof, the search looks for short plans by bisection between the best plan and a lower
// bound. That phase affects the run time but not the result. An object is not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/fusion/fusion.h"
#include "core/plan/fusion/fusion_rows.h"

namespace tributary {

class FusionSearch {
 public:
  // `start` is any valid plan. `times` must outlive this object.
  FusionSearch(const FusionTimes& times, const FusionLimits& limits,
               std::vector<std::uint32_t> start);
  FusionSearch(const FusionSearch&) = delete;
  FusionSearch& operator=(const FusionSearch&) = delete;

  // Makes `groups` the best plan if it is shorter, or equally short with fewer groups. Returns
  // whether it did.
  bool consider(const std::vector<std::uint32_t>& groups);

  // Returns the best plan. `optimal` is false if limits.steps_max was reached before the proof.
  FusionPlan run();

 private:
  double least_s(std::uint32_t groups) const;
  FusionDeadline better_than_best(std::uint32_t groups) const;
  void add_row(FusionRows& rows);
  std::uint32_t least_groups(const FusionDeadline& deadline);
  void lower_groups_max();
  bool seek(double iteration_s);
  void halve();
  bool halves_meet(const FusionDeadline& deadline) const;
  std::uint32_t first_open(std::uint32_t groups);
  std::uint32_t ask(std::uint32_t groups);
  void prove();

  const FusionTimes& times_;
  const FusionLimits limits_;
  const FusionTimes mirrored_;
  FusionRows rows_;
  FusionRows rows_behind_;
  FusionPlan best_;
  std::uint32_t groups_max_;  // more groups cannot be better
  // Cells computed so far, for FusionLimits::steps_max.
  std::uint64_t steps_ = 0;
  bool exhausted_ = false;
};

}  // namespace tributary
