// Drawn shapes: colour pictures of 32 x 32 pixels with one of ten shapes. The shape is rotated,
// scaled and moved, its two colours are random, and clutter and noise are added, so no single pixel
// is informative.
//
// A picture is a pure function of seed, part and number, and is the same on every machine. Any
// thread may draw.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/data/formats/cifar.h"
#include "core/data/formats/open.h"

namespace tributary {

struct DrawnShape {
  std::array<std::uint8_t, kCifarPixelBytes> pixels;  // red plane, green plane, blue plane
  // The shape, a value of Outline.
  std::uint8_t label;
};

// Draws the picture with this number of the given part.
DrawnShape draw_shape(std::uint64_t seed, DataPart part, std::uint32_t number);

}  // namespace tributary
