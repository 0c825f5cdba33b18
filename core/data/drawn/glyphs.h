// How people write digits: each in several styles, each style a few strokes, each stroke a smooth
// curve through points. The box is 1 wide and 1 high, y goes down.
#pragma once

#include <cstdint>
#include <span>

namespace tributary {

struct Point {
  float x;
  float y;
};

using Stroke = std::span<const Point>;
using Glyph = std::span<const Stroke>;

inline constexpr std::uint32_t kDigits = 10;

std::span<const Glyph> styles_of_digit(std::uint32_t digit);

}  // namespace tributary
