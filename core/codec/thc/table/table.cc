#include "core/codec/thc/table/table.h"

#include <cassert>
#include <limits>

#include "core/codec/thc/table/normal.h"

namespace tributary::thc {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// One step of the dynamic programme. Entry r of a row is the minimum cost of the levels up to this
// row, if the first is point 0 and the last is point r. Interval costs satisfy the quadrangle
// inequality (their mixed derivative is -∫φ). The best predecessor therefore never moves left as r
// moves right, and divide and conquer fills a row in O(g log g).
class Solver {
 public:
  Solver(unsigned bits, const IntervalCosts& costs)
      : costs_(costs),
        points_(costs.granularity() + 1),
        rows_(levels_of(bits)),
        previous_(points_, kInfinite),
        current_(points_, kInfinite),
        predecessor_(std::size_t{rows_} * points_) {}

  LevelTable solve() {
    previous_[0] = 0;
    // Row r can only end at points r to r + spare, because every level needs a point of its own.
    const std::uint32_t spare = points_ - rows_;
    for (row_ = 1; row_ < rows_; ++row_) {
      const bool last = row_ + 1 == rows_;
      fill(last ? row_ + spare : row_, row_ + spare, row_ - 1, row_ + spare - 1);
      previous_.swap(current_);
    }
    LevelTable table;
    table.rounding_mse = previous_[points_ - 1];
    table.intervals_costed = intervals_costed_;
    table.levels.resize(rows_);
    // Follows the predecessors back from the last point.
    std::uint16_t point = static_cast<std::uint16_t>(points_ - 1);
    for (std::uint32_t row = rows_; row-- > 0;) {
      table.levels[row] = point;
      point = predecessor_[std::size_t{row} * points_ + point];
    }
    return table;
  }

 private:
  // Fills current_[first..last], if the best predecessors lie in [low, high].
  void fill(std::uint32_t first, std::uint32_t last, std::uint32_t low, std::uint32_t high) {
    const std::uint32_t middle = first + (last - first) / 2;
    double best = kInfinite;
    std::uint32_t best_from = low;
    for (std::uint32_t from = low; from <= high && from < middle; ++from) {
      const double total = previous_[from] + costs_.cost(from, middle);
      ++intervals_costed_;
      if (total < best) {
        best = total;
        best_from = from;
      }
    }
    current_[middle] = best;
    predecessor_[std::size_t{row_} * points_ + middle] = static_cast<std::uint16_t>(best_from);
    if (middle > first) fill(first, middle - 1, low, best_from);
    if (middle < last) fill(middle + 1, last, best_from, high);
  }

  const IntervalCosts& costs_;
  const std::uint32_t points_;
  const std::uint32_t rows_;
  std::uint32_t row_ = 0;
  std::vector<double> previous_;
  std::vector<double> current_;
  std::vector<std::uint16_t> predecessor_;
  std::uint64_t intervals_costed_ = 0;
};

}  // namespace

IntervalCosts::IntervalCosts(std::uint32_t granularity, double threshold) {
  assert(granularity >= 1 && granularity <= kGranularityMax);
  points_.resize(granularity + 1);
  for (std::uint32_t i = 0; i <= granularity; ++i) {
    // Measured from the centre, so that the grid is symmetric to the last bit.
    const auto place = static_cast<double>(2 * static_cast<std::int64_t>(i) - granularity);
    const double x = threshold * (place / granularity);
    points_[i] = {.x = x, .density = normal_density(x), .mass = normal_centre_mass(x)};
  }
}

LevelTable solve_table(unsigned bits, const IntervalCosts& costs) {
  assert(bits >= 1 && bits <= kBitsMax && levels_of(bits) <= costs.granularity() + 1);
  return Solver(bits, costs).solve();
}

double rounding_mse(const std::vector<std::uint16_t>& levels, const IntervalCosts& costs) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) sum += costs.cost(levels[i], levels[i + 1]);
  return sum;
}

double truncation_mse(double threshold) {
  return 2 * ((1 + threshold * threshold) * normal_tail(threshold) -
              threshold * normal_density(threshold));
}

}  // namespace tributary::thc
