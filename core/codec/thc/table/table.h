// The optimal table of levels for a rotated coordinate, whose distribution is almost normal.
//
// 2^b of the g + 1 points -t .. t of an even grid are levels, always including both ends. Rounding
// a at random to one of its neighbours l and r costs (a - l)(r - a) on average. An interval between
// neighbouring levels therefore costs ∫ (a - l)(r - a) φ(a) da, whatever the other levels are. The
// best table is a shortest path, and a dynamic programme over (levels used, last level) finds it
// exactly. The paper enumerates instead and allows only symmetric tables for odd g, which can cost
// slightly more.
//
// All functions are pure, and their results have the same bits on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace tributary::thc {

// Limits of the levels' bits and of the grid. Places on the grid need 10 bits.
constexpr unsigned kBitsMax = 8;
constexpr std::uint32_t kGranularityMax = 1023;

constexpr std::uint32_t levels_of(unsigned bits) { return 1u << bits; }

// The cost of an interval of the grid, for every pair of points.
class IntervalCosts {
 public:
  // Uses granularity + 1 points from -threshold to threshold.
  IntervalCosts(std::uint32_t granularity, double threshold);

  // Requires from < to.
  double cost(std::uint32_t from, std::uint32_t to) const {
    const Point& l = points_[from];
    const Point& r = points_[to];
    return r.x * l.density - l.x * r.density - (1 + l.x * r.x) * (r.mass - l.mass);
  }
  std::uint32_t granularity() const { return static_cast<std::uint32_t>(points_.size() - 1); }

 private:
  struct Point {
    double x;
    double density;
    double mass;  // ∫ φ from 0 to x
  };
  std::vector<Point> points_;
};

struct LevelTable {
  std::vector<std::uint16_t> levels;   // ascending, from 0 to g
  double rounding_mse = 0;             // for a coordinate of unit variance
  std::uint64_t intervals_costed = 0;  // number of evaluated intervals, for tests
};

// Returns the cheapest table of 2^bits levels. Requires 2^bits - 1 <= granularity <=
// kGranularityMax.
LevelTable solve_table(unsigned bits, const IntervalCosts& costs);

// The mean squared rounding error of a given table.
double rounding_mse(const std::vector<std::uint16_t>& levels, const IntervalCosts& costs);

// The mean squared error of moving values outside [-threshold, threshold] to its ends.
double truncation_mse(double threshold);

}  // namespace tributary::thc
