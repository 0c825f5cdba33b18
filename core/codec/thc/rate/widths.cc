#include "core/codec/thc/rate/widths.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "core/base/bytes/bits.h"
#include "core/codec/thc/table/table.h"

namespace tributary::thc {
namespace {

constexpr unsigned kBitsOffered[] = {1, 2, 3, 4, 6, 8};
constexpr std::size_t kWidthsKeptMax = 64;  // a full cache is emptied

unsigned sum_bits_for(std::uint64_t granularity, std::uint32_t agents) {
  return bits_for(std::min<std::uint64_t>(granularity, kGranularityMax) * agents);
}

// One candidate for each width of the sum: a finer grid costs bits down and lowers the error.
Result<std::vector<Width>> candidates_for(std::uint32_t agents) {
  std::vector<Width> candidates;
  for (const unsigned bits : kBitsOffered) {
    const std::uint64_t levels = levels_of(bits);
    const unsigned widest = sum_bits_for(kPointsPerLevel * levels - 1, agents);
    for (unsigned sum = sum_bits_for(levels - 1, agents); sum <= widest; ++sum) {
      TRIBUTARY_ASSIGN(const TablePlan plan,
                       plan_table({.bits = bits, .agents = agents, .down_bits = sum}));
      candidates.push_back(
          {.bits = bits,
           .sum_bits = sum_bits_for(plan.granularity, agents),
           .error = plan.expected_nmse,
           .table = {
               .bits = bits, .granularity = plan.granularity, .p = plan.p, .agents = agents}});
    }
  }
  return candidates;
}

// Whether `middle` is on or above the line from `left` to `right`.
bool above_line(const Width& left, const Width& middle, const Width& right, double down_weight) {
  const double to_middle = middle.cost(down_weight) - left.cost(down_weight);
  const double to_right = right.cost(down_weight) - left.cost(down_weight);
  return (left.error - middle.error) * to_right <= (left.error - right.error) * to_middle;
}

}  // namespace

std::vector<Width> convex_widths(std::span<const Width> candidates, double down_weight) {
  std::vector<Width> sorted(candidates.begin(), candidates.end());
  std::ranges::stable_sort(sorted, [&](const Width& a, const Width& b) {
    const double cost_a = a.cost(down_weight);
    const double cost_b = b.cost(down_weight);
    return cost_a < cost_b || (cost_a == cost_b && a.error < b.error);
  });
  std::vector<Width> hull = {Width{}};
  for (const Width& width : sorted) {
    // A width that costs no less than another must gain something, and fewer bits never do.
    if (width.error >= hull.back().error || width.bits < hull.back().bits) continue;
    while (hull.size() > 1 && above_line(hull[hull.size() - 2], hull.back(), width, down_weight)) {
      hull.pop_back();
    }
    hull.push_back(width);
  }
  return hull;
}

Result<std::vector<Width>> widths_for(std::uint32_t agents, double down_weight) {
  // The lock is held while tables are solved, so that threads that need the same ones wait for
  // them.
  static std::mutex mutex;
  static std::map<std::uint32_t, std::vector<Width>> kept;
  const std::lock_guard lock(mutex);
  auto found = kept.find(agents);
  if (found == kept.end()) {
    TRIBUTARY_ASSIGN(std::vector<Width> candidates, candidates_for(agents));
    if (kept.size() >= kWidthsKeptMax) kept.clear();
    found = kept.emplace(agents, std::move(candidates)).first;
  }
  return convex_widths(found->second, down_weight);
}

}  // namespace tributary::thc
