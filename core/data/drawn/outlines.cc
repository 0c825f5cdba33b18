#include "core/data/drawn/outlines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace tributary {
namespace {

constexpr Point kSquare[] = {{-0.75f, -0.75f}, {0.75f, -0.75f}, {0.75f, 0.75f}, {-0.75f, 0.75f}};
constexpr Point kTriangle[] = {{0, -1}, {0.9f, 0.65f}, {-0.9f, 0.65f}};
// Five points on the unit circle and, between them, five on a circle of radius 0.42.
constexpr Point kStar[] = {
    {0, -1},    {0.247f, -0.34f},  {0.951f, -0.309f}, {0.399f, 0.13f},    {0.588f, 0.809f},
    {0, 0.42f}, {-0.588f, 0.809f}, {-0.399f, 0.13f},  {-0.951f, -0.309f}, {-0.247f, -0.34f}};
constexpr Point kPlus[] = {{-0.3f, -0.95f}, {0.3f, -0.95f}, {0.3f, -0.3f},   {0.95f, -0.3f},
                           {0.95f, 0.3f},   {0.3f, 0.3f},   {0.3f, 0.95f},   {-0.3f, 0.95f},
                           {-0.3f, 0.3f},   {-0.95f, 0.3f}, {-0.95f, -0.3f}, {-0.3f, -0.3f}};
constexpr Point kUpperBar[] = {{-0.9f, -0.7f}, {0.9f, -0.7f}, {0.9f, -0.2f}, {-0.9f, -0.2f}};
constexpr Point kLowerBar[] = {{-0.9f, 0.2f}, {0.9f, 0.2f}, {0.9f, 0.7f}, {-0.9f, 0.7f}};
constexpr Point kCorner[] = {{-0.8f, -0.85f}, {-0.25f, -0.85f}, {-0.25f, 0.3f},
                             {0.8f, 0.3f},    {0.8f, 0.85f},    {-0.8f, 0.85f}};
constexpr Point kArrow[] = {{0, -1},         {0.8f, -0.1f},   {0.28f, -0.1f}, {0.28f, 0.95f},
                            {-0.28f, 0.95f}, {-0.28f, -0.1f}, {-0.8f, -0.1f}};

float length(float x, float y) { return std::sqrt(x * x + y * y); }

// Distance to the nearest edge. The sign is the parity of the edges that a ray to the right
// crosses.
float to_polygon(std::span<const Point> corners, Point p) {
  float nearest = std::numeric_limits<float>::max();
  bool inside = false;
  Point from = corners.back();
  for (const Point to : corners) {
    const float along_x = to.x - from.x;
    const float along_y = to.y - from.y;
    const float x = p.x - from.x;
    const float y = p.y - from.y;
    const float square = along_x * along_x + along_y * along_y;
    const float place = std::clamp((x * along_x + y * along_y) / square, 0.0f, 1.0f);
    const float dx = x - place * along_x;
    const float dy = y - place * along_y;
    nearest = std::min(nearest, dx * dx + dy * dy);
    if ((from.y > p.y) != (to.y > p.y) && x < along_x * y / along_y) inside = !inside;
    from = to;
  }
  return inside ? -std::sqrt(nearest) : std::sqrt(nearest);
}

}  // namespace

float distance_to(Outline outline, Point p) {
  switch (outline) {
    case Outline::disc:
      return length(p.x, p.y) - 0.9f;
    // The distance from a circle of radius 0.7, less half of the ring's thickness.
    case Outline::ring:
      return std::abs(length(p.x, p.y) - 0.7f) - 0.23f;
    case Outline::square:
      return to_polygon(kSquare, p);
    case Outline::triangle:
      return to_polygon(kTriangle, p);
    case Outline::star:
      return to_polygon(kStar, p);
    case Outline::plus:
      return to_polygon(kPlus, p);
    // A disc without a second disc that is shifted to the right.
    case Outline::crescent:
      return std::max(length(p.x, p.y) - 0.95f, 0.75f - length(p.x - 0.5f, p.y));
    case Outline::bars:
      return std::min(to_polygon(kUpperBar, p), to_polygon(kLowerBar, p));
    case Outline::corner:
      return to_polygon(kCorner, p);
    case Outline::arrow:
      return to_polygon(kArrow, p);
  }
  return 1;
}

}  // namespace tributary
