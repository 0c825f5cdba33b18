// What the drawn shapes look like: how far a point is from each, in units of the shape's size.
#pragma once

#include <cstdint>

#include "core/data/drawn/glyphs.h"

namespace tributary {

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

// Below 0 within the shape, which has its middle at (0, 0) and reaches to about 1.
float distance_to(Outline outline, Point p);

}  // namespace tributary
