#include "core/plan/fusion/fusion_search.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tributary {
namespace {

constexpr int kSearchHalvings = 12;
constexpr int kQuestions = 8;
// Relative difference of two durations that rounding alone can cause.
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();

}  // namespace

FusionSearch::FusionSearch(const FusionTimes& times, const FusionLimits& limits,
                           std::vector<std::uint32_t> start)
    : times_(times),
      limits_(limits),
      mirrored_(times.mirrored()),
      rows_(times_),
      rows_behind_(mirrored_),
      groups_max_(times.tensors()) {
  best_.iteration_s = fused_iteration_s(times, start);
  best_.groups = std::move(start);
  lower_groups_max();
}

bool FusionSearch::consider(const std::vector<std::uint32_t>& groups) {
  const double iteration_s = fused_iteration_s(times_, groups);
  if (iteration_s > best_.iteration_s) return false;
  if (iteration_s == best_.iteration_s && groups.size() >= best_.groups.size()) return false;
  best_ = {.groups = groups, .iteration_s = iteration_s};
  lower_groups_max();
  return true;
}

FusionPlan FusionSearch::run() {
  halve();
  prove();
  best_.optimal = !exhausted_;
  return best_;
}

// A lower bound on the iteration time of any plan with `groups` groups. Each stage does all of its
// work after the other stages' work on the first group and before that on the last, and each of
// these holds one tensor or more. The bound does not decrease with the number of groups.
double FusionSearch::least_s(std::uint32_t groups) const {
  const std::uint32_t all = times_.tensors();
  const double more_groups = groups - 1;
  const double first_s = times_.compressed_s(1, 1);
  const double last_decode_s = times_.decode_s(all - 1, all);
  const double by_device =
      times_.compressed_s(groups, all) + times_.send_s(all - 1, all) + last_decode_s;
  const double by_network =
      first_s + times_.send_s(0, all) + more_groups * times_.send_s(0, 0) + last_decode_s;
  const double by_decoder = first_s + times_.send_s(0, 1) + times_.decode_s(0, all) +
                            more_groups * times_.decode_alpha_s();
  return std::max({by_device, by_network, by_decoder});
}

// With fewer groups than the best plan, an equally short plan would also be better, so the bound
// must be strictly longer to exclude it.
void FusionSearch::lower_groups_max() {
  const auto hopeless = [this](std::uint32_t groups) {
    const double least = least_s(groups);
    return groups < best_.groups.size() ? least > best_.iteration_s : least >= best_.iteration_s;
  };
  while (groups_max_ > 0 && hopeless(groups_max_)) --groups_max_;
}

// With as many groups as the best plan, only a really shorter plan is better. The margin keeps
// rounding from making the best plan look shorter than itself.
FusionDeadline FusionSearch::better_than_best(std::uint32_t groups) const {
  const bool strict = groups >= best_.groups.size();
  const double margin_s = strict ? kRounding * best_.iteration_s : 0;
  return {.iteration_s = best_.iteration_s - margin_s, .groups = groups, .strict = strict};
}

void FusionSearch::add_row(FusionRows& rows) {
  rows.add_row();
  steps_ += times_.tensors();
  exhausted_ = steps_ > limits_.steps_max;
}

// Returns 0 if no number of groups up to the maximum meets the deadline.
std::uint32_t FusionSearch::least_groups(const FusionDeadline& deadline) {
  rows_.begin(deadline);
  while (rows_.rows() < groups_max_ && !rows_.settled() && !exhausted_) {
    add_row(rows_);
    if (rows_.end_s() < std::numeric_limits<double>::infinity()) return rows_.rows();
  }
  return 0;
}

// Whether a plan of at most `iteration_s` is found within a few questions.
bool FusionSearch::seek(double iteration_s) {
  std::uint32_t groups = 1;
  for (int i = 0; i < kQuestions && groups > 0; ++i) {
    groups = least_groups({.iteration_s = iteration_s, .groups = groups});
    if (groups > 0) consider(rows_.groups(groups));
    if (best_.iteration_s <= iteration_s) return true;
  }
  return false;
}

// Bisection between the lower bound and the best plan. Each success shortens the best plan, which
// tightens all later deadlines.
void FusionSearch::halve() {
  double low = least_s(1);
  for (int i = 0; i < kSearchHalvings && low < best_.iteration_s; ++i) {
    const double middle = low + (best_.iteration_s - low) / 2;
    if (!seek(middle)) low = middle;
  }
}

// Whether some number of tensors k satisfies front[h][k] + behind[J - h][N - k] <= T (see the
// header).
bool FusionSearch::halves_meet(const FusionDeadline& deadline) const {
  const std::span<const double> front = rows_.ends_s();
  const std::span<const double> behind = rows_behind_.ends_s();
  for (std::size_t sent = 0; sent < front.size(); ++sent) {
    const double iteration_s = front[sent] + behind[front.size() - 1 - sent];
    if (iteration_s < deadline.iteration_s) return true;
    if (iteration_s == deadline.iteration_s && !deadline.strict) return true;
  }
  return false;
}

// Returns the first number of groups, from `groups` on, that meeting in the middle does not
// exclude. Numbers far above `groups` are rarely excluded, because the rows count too little for
// them.
std::uint32_t FusionSearch::first_open(std::uint32_t groups) {
  const FusionDeadline deadline = better_than_best(groups);
  const std::uint32_t half = groups / 2;
  rows_.begin(deadline);
  while (rows_.rows() < half) add_row(rows_);
  rows_behind_.begin(deadline);
  while (half + rows_behind_.rows() + 1 < groups) add_row(rows_behind_);
  for (; groups <= groups_max_ && !exhausted_; ++groups) {
    if (groups >= best_.groups.size() && !deadline.strict) return groups;
    add_row(rows_behind_);
    if (halves_meet(deadline)) return groups;
    if (rows_behind_.settled() && deadline.strict) return groups_max_ + 1;
  }
  return groups;
}

// Looks for a better plan with `groups` groups. Returns the next number of groups to ask about.
//
// Because sums are rounded, the best plan can seem better than itself and hide a plan that is
// really better. The question is then repeated with a slightly earlier deadline, until the answer
// is another plan or none.
std::uint32_t FusionSearch::ask(std::uint32_t groups) {
  double margin_s = 0;
  while (!exhausted_) {
    FusionDeadline deadline = better_than_best(groups);
    deadline.iteration_s -= margin_s;
    const std::uint32_t found = least_groups(deadline);
    if (found == 0) return groups_max_ + 1;
    const bool better = consider(rows_.groups(found));
    if (better) halve();
    if (found > groups) return found;
    margin_s = better ? 0 : std::max(2 * margin_s, kRounding * best_.iteration_s);
  }
  return groups;
}

// Numbers of groups are asked in ascending order, because each answer excludes a run of them from
// below.
void FusionSearch::prove() {
  for (std::uint32_t groups = 1; groups <= groups_max_ && !exhausted_;) {
    const std::uint32_t open = first_open(groups);
    groups = open > groups ? open : ask(groups);
  }
}

}  // namespace tributary
