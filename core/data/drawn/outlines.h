// The ten outlines of the drawn shapes, each as a signed distance function. One unit is the shape's
// size; the centre is (0, 0) and a shape extends to about 1. All functions are pure.
#pragma once

#include <cstdint>

#include "core/data/drawn/glyphs.h"

namespace tributary {

// The enumerators' values are the labels of the data set.
enum class Outline : std::uint8_t {
  disc,
  ring,
  square,
  triangle,
  star,
  plus,
  crescent,
  bars,
  corner,
  arrow,
};
inline constexpr std::uint32_t kOutlines = 10;

// Signed distance of `p` from the outline, negative inside the shape. The distance is exact for
// polygons, and a lower bound near the corners of combined outlines.
float distance_to(Outline outline, Point p);

}  // namespace tributary
