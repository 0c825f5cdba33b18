#include "core/data/drawn/canvas.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

struct Range {
  std::uint32_t begin;
  std::uint32_t end;
};

// The pixels between two coordinates, clipped to the canvas.
Range pixels_between(float low, float high, std::uint32_t size) {
  const float limit = static_cast<float>(size);
  const float begin = std::clamp(std::floor(low), 0.0f, limit);
  const float end = std::clamp(std::ceil(high), begin, limit);
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

}  // namespace

void Canvas::line(Point from, Point to, float radius, float ink) {
  // The ink fades over one pixel beyond the radius, so no pixel farther away is visited.
  const float reach = radius + 1;
  const Range columns =
      pixels_between(std::min(from.x, to.x) - reach, std::max(from.x, to.x) + reach, width_);
  const Range rows =
      pixels_between(std::min(from.y, to.y) - reach, std::max(from.y, to.y) + reach, height_);
  const float along_x = to.x - from.x;
  const float along_y = to.y - from.y;
  const float square = along_x * along_x + along_y * along_y;
  // A stroke of length 0 is a dot; the inverse 0 keeps its projection at the first point.
  const float inverse = square > 0 ? 1 / square : 0;
  for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
    // The loop works with coordinates relative to `from`.
    const float y = static_cast<float>(row) + 0.5f - from.y;
    float* const pixels = ink_.data() + std::size_t{row} * width_;
    for (std::uint32_t column = columns.begin; column < columns.end; ++column) {
      const float x = static_cast<float>(column) + 0.5f - from.x;
      // The position of the nearest point of the stroke, from 0 at `from` to 1 at `to`.
      const float place = std::clamp((x * along_x + y * along_y) * inverse, 0.0f, 1.0f);
      const float dx = x - place * along_x;
      const float dy = y - place * along_y;
      const float distance = std::sqrt(dx * dx + dy * dy);
      const float cover = std::clamp(radius + 0.5f - distance, 0.0f, 1.0f);
      pixels[column] = std::max(pixels[column], cover * ink);
    }
  }
}

void smooth_curve(std::span<const Point> points, std::uint32_t steps, std::vector<Point>& out) {
  if (points.empty()) return;
  const auto blend = [](float a, float b, float c, float d, float t) {
    return 0.5f * (2 * b +
                   t * ((c - a) + t * ((2 * a - 5 * b + 4 * c - d) + t * (3 * b - 3 * c + d - a))));
  };
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Point a = points[i == 0 ? 0 : i - 1];
    const Point b = points[i];
    const Point c = points[i + 1];
    const Point d = points[std::min(i + 2, points.size() - 1)];
    for (std::uint32_t step = 0; step < steps; ++step) {
      const float t = static_cast<float>(step) / static_cast<float>(steps);
      out.push_back({blend(a.x, b.x, c.x, d.x, t), blend(a.y, b.y, c.y, d.y, t)});
    }
  }
  out.push_back(points.back());
}

}  // namespace tributary
