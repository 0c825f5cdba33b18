#include "cli/report/svg/points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tributary::report {
namespace {

// Keeps the lowest point, the highest point and one gap of an interval, in their order.
void keep_extremes(const Point* begin, const Point* end, Points& out) {
  const Point* low = nullptr;
  const Point* high = nullptr;
  const Point* gap = nullptr;
  for (const Point* p = begin; p != end; ++p) {
    if (!std::isfinite(p->y)) {
      gap = p;
      continue;
    }
    if (!low || p->y < low->y) low = p;
    if (!high || p->y > high->y) high = p;
  }
  std::vector<const Point*> kept = {low, high, gap};
  std::erase(kept, nullptr);
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (const Point* p : kept) out.push_back(*p);
}

}  // namespace

// Keeps what the eye looks for: peaks, troughs and gaps of every interval. A mean would hide them.
Points decimated(const Points& points, std::size_t most) {
  most = std::max<std::size_t>(most, 8);
  if (points.size() <= most) return points;
  // At most three points per interval, and both ends.
  const std::size_t stretches = (most - 2) / 3;
  const std::size_t inner = points.size() - 2;
  Points out = {points.front()};
  for (std::size_t i = 0; i < stretches; ++i) {
    const Point* const base = points.data() + 1;
    keep_extremes(base + i * inner / stretches, base + (i + 1) * inner / stretches, out);
  }
  out.push_back(points.back());
  return out;
}

// Without the gap a pause would be drawn as a straight line, as if values existed.
Points with_gaps(const Points& points, double further_than) {
  Points out;
  for (const Point& point : points) {
    if (!out.empty() && point.x - out.back().x > further_than) {
      out.push_back({(point.x + out.back().x) / 2, kGap});
    }
    out.push_back(point);
  }
  return out;
}

double usual_distance(const Points& points) {
  if (points.size() < 2) return 0;
  std::vector<double> distances;
  for (std::size_t i = 1; i < points.size(); ++i) {
    distances.push_back(points[i].x - points[i - 1].x);
  }
  // The median is not influenced by a few long pauses.
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

// Bins have equal width in x. The x of a bin is the mean of its points, so that regular samples
// stay at their places.
Envelope envelope(const std::vector<Points>& lines, std::size_t bins_max) {
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  std::size_t longest = 0;
  for (const Points& line : lines) {
    longest = std::max(longest, line.size());
    for (const Point& point : line) {
      first = std::min(first, point.x);
      last = std::max(last, point.x);
    }
  }
  Envelope out;
  if (longest == 0) return out;
  // Never more bins than the longest line has points, so that few samples are not torn apart by
  // empty bins.
  const std::size_t bins = std::clamp<std::size_t>(longest, 1, std::max<std::size_t>(1, bins_max));
  const double width = std::max(last - first, 1e-12) / static_cast<double>(bins);
  std::vector<Points> in_bin(bins);
  for (const Points& line : lines) {
    for (const Point& point : line) {
      if (!std::isfinite(point.y)) continue;
      const double place = std::max(0.0, std::floor((point.x - first) / width));
      in_bin[std::min(bins - 1, static_cast<std::size_t>(place))].push_back(point);
    }
  }
  for (std::size_t bin = 0; bin < bins; ++bin) {
    Points& all = in_bin[bin];
    double x = first + (static_cast<double>(bin) + 0.5) * width;
    if (!all.empty()) {
      x = std::accumulate(all.begin(), all.end(), 0.0,
                          [](double sum, const Point& point) { return sum + point.x; }) /
          static_cast<double>(all.size());
    }
    std::ranges::sort(all, {}, &Point::y);
    out.lowest.push_back({x, all.empty() ? kGap : all.front().y});
    out.median.push_back({x, all.empty() ? kGap : all[all.size() / 2].y});
    out.highest.push_back({x, all.empty() ? kGap : all.back().y});
  }
  return out;
}

// Parts of equal numbers of points, not of equal width; a part is never empty because most <
// points.size().
Points averaged(const Points& points, std::size_t most) {
  if (points.size() <= most || most == 0) return points;
  Points out;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t begin = i * points.size() / most;
    const std::size_t end = (i + 1) * points.size() / most;
    Point mean;
    for (std::size_t j = begin; j < end; ++j) {
      mean.x += points[j].x / static_cast<double>(end - begin);
      mean.y += points[j].y / static_cast<double>(end - begin);
    }
    out.push_back(mean);
  }
  return out;
}

}  // namespace tributary::report
