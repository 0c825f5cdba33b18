// Drawn shapes: 32 x 32 colour pictures of ten kinds, turned, scaled, moved, in any two colours,
// with clutter and noise, so that no pixel says much by itself. A picture follows from its seed,
// its part and its number alone, and is the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/data/formats/cifar.h"
#include "core/data/formats/open.h"

namespace tributary {

struct DrawnShape {
  std::array<std::uint8_t, kCifarPixelBytes> pixels;  // red, green and blue plane
  std::uint8_t label;
};

DrawnShape draw_shape(std::uint64_t seed, DataPart part, std::uint32_t number);

}  // namespace tributary
