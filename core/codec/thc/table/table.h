// The optimal table of levels for a rotated coordinate, which is all but normally distributed.
//
// The g + 1 points -t .. t of an even grid may be levels and 2^b of them are; the ends always are.
// Rounding a stochastically to one of its neighbours l and r costs (a - l)(r - a) on average, so an
// interval between neighbouring levels costs ∫ (a - l)(r - a) φ(a) da wherever the others are: the
// best table is a shortest path, and a dynamic programme over (levels used, last level) is exact.
// The paper enumerates instead, and allows only symmetric tables for odd g, which can cost a
// little.
#pragma once

#include <cstdint>
#include <vector>

namespace tributary::thc {

constexpr unsigned kBitsMax = 8;
constexpr std::uint32_t kGranularityMax = 1023;

constexpr std::uint32_t levels_of(unsigned bits) { return 1u << bits; }

// What an interval of the grid costs, for every pair of points.
class IntervalCosts {
 public:
  // Points from -threshold to threshold, granularity + 1 of them.
  IntervalCosts(std::uint32_t granularity, double threshold);

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
  std::vector<std::uint16_t> levels;  // ascending, from 0 to g
  double rounding_mse = 0;            // of a coordinate of unit variance
  std::uint64_t intervals_costed = 0;
};

// The cheapest table of 2^bits levels; 2^bits - 1 <= granularity <= kGranularityMax.
LevelTable solve_table(unsigned bits, const IntervalCosts& costs);

// The rounding error of a given table.
double rounding_mse(const std::vector<std::uint16_t>& levels, const IntervalCosts& costs);

// The mean squared error of moving what lies outside [-threshold, threshold] onto its ends.
double truncation_mse(double threshold);

}  // namespace tributary::thc
