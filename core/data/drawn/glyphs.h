// Shapes of handwritten digits. Each digit has several styles, a style has a few strokes, and a
// stroke is a smooth curve through points. Coordinates are in a box of width and height 1 with y
// downwards.
//
// The data is constant and static: the spans never become invalid.
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

// The styles of a digit below kDigits; a larger digit is a programming error (assert).
std::span<const Glyph> styles_of_digit(std::uint32_t digit);

}  // namespace tributary
