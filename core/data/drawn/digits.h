// Drawn digits: 28 x 28 grey pictures that look like handwriting, distorted, cluttered and noisy,
// so that a linear model does clearly worse than a small convolutional one. A picture follows from
// its seed, its part and its number alone, and is the same on every machine.
#pragma once

#include <array>
#include <cstdint>

#include "core/data/formats/open.h"

namespace tributary {

inline constexpr std::uint32_t kDigitSide = 28;

struct DrawnDigit {
  std::array<std::uint8_t, kDigitSide * kDigitSide> pixels;
  std::uint8_t label;
};

DrawnDigit draw_digit(std::uint64_t seed, DataPart part, std::uint32_t number);

}  // namespace tributary
