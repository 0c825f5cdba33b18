// Reduces lines of points to what a picture can show. Pure functions; x must be ascending. The cost
// is linear, plus sorting within an interval. No function changes its input.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace tributary::report {

struct Point {
  double x = 0;
  double y = 0;  // NaN: a gap
};
constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
using Points = std::vector<Point>;

// Returns at most `most` points (at least 8). Each interval keeps its lowest and highest point, and
// a gap if it has one, so that spikes and outages remain visible.
Points decimated(const Points& points, std::size_t most);

// Inserts a gap between neighbours that are further apart than `further_than`.
Points with_gaps(const Points& points, double further_than);

// Returns the median distance of neighbours; 0 for fewer than two points.
double usual_distance(const Points& points);

// The range of many lines: the lowest, the median and the highest value in each of up to `bins_max`
// intervals of x.
struct Envelope {
  Points lowest;
  Points median;
  Points highest;
};
Envelope envelope(const std::vector<Points>& lines, std::size_t bins_max);

// Returns the mean of each of up to `most` intervals with equal numbers of points. An interval with
// a gap becomes a gap.
Points averaged(const Points& points, std::size_t most);

}  // namespace tributary::report
