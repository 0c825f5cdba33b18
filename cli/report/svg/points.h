// Lines of points: what a picture has room for of them.
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

// At most `most` points (at least 8), x ascending. Of each stretch the lowest and the highest stay,
// and a gap wherever there was one: a spike or an outage is never thinned away.
Points decimated(const Points& points, std::size_t most);

// Puts a gap wherever neighbours are further apart than that.
Points with_gaps(const Points& points, double further_than);

// The median distance of neighbours; 0 for fewer than two points.
double usual_distance(const Points& points);

// What is left of many lines: in each of at most `bins_max` stretches of x the lowest, the middle
// and the highest of their values.
struct Envelope {
  Points lowest;
  Points median;
  Points highest;
};
Envelope envelope(const std::vector<Points>& lines, std::size_t bins_max);

// The mean of each of at most `most` stretches of equally many points. A stretch with a gap is one.
Points averaged(const Points& points, std::size_t most);

}  // namespace tributary::report
