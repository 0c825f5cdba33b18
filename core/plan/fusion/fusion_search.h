// The best groups where decoding takes time, by FusionRows with deadlines.
//
// The search holds the best plan known, T in G groups, and asks for J = 1, 2, ... whether there is
// a shorter one of J groups (or one as short, where J < G). The rows answer with the least number
// of groups J' with which their deadlines for J and more are met. That rules out J to J' - 1; where
// J' = J the plan is shorter indeed; and where there is no J', no number of groups will do any
// more, and all is proven.
//
// Many numbers of groups are ruled out at once, by meeting in the middle. Rows from the front are
// exact about the device and count too few decodings where there are more than J groups; rows from
// behind, the same problem mirrored, are exact about decoding and count too few compressions. If J
// groups are sent within T, then after h of them so many tensors k are sent that
//
//   front[h][k] + behind[J - h][N - k] <= T
//
// and J is asked about only if there is such a k.
//
// Short plans are sought first, by halving what lies between the best and a bound. That part
// decides how long the search takes, and not what it finds.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/fusion/fusion.h"
#include "core/plan/fusion/fusion_rows.h"

namespace tributary {

class FusionSearch {
 public:
  // `start` is any valid plan. `times` must outlive this.
  FusionSearch(const FusionTimes& times, const FusionLimits& limits,
               std::vector<std::uint32_t> start);
  FusionSearch(const FusionSearch&) = delete;
  FusionSearch& operator=(const FusionSearch&) = delete;

  // Takes the plan for the best if it is shorter, or as short with fewer groups; says whether.
  bool consider(const std::vector<std::uint32_t>& groups);

  // The best plan; `optimal` is false if the limit was reached before that was proven.
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
  std::uint32_t groups_max_;  // more cannot be better
  std::uint64_t steps_ = 0;
  bool exhausted_ = false;
};

}  // namespace tributary
