// Drawn digits: grey pictures of 28 x 28 pixels that resemble handwriting. They are distorted,
// cluttered and noisy, so a linear model is clearly worse than a small convolutional one
// (difficulty_slow_test.cc measures it).
//
// A picture is a pure function of seed, part and number, and is the same on every machine. Any
// thread may draw.
#pragma once

#include <array>
#include <cstdint>

#include "core/data/formats/open.h"

namespace tributary {

inline constexpr std::uint32_t kDigitSide = 28;

struct DrawnDigit {
  // Row by row; 0 is paper, 255 is full ink.
  std::array<std::uint8_t, kDigitSide * kDigitSide> pixels;
  // The digit, 0 to 9.
  std::uint8_t label;
};

// Draws the picture with this number of the given part.
DrawnDigit draw_digit(std::uint64_t seed, DataPart part, std::uint32_t number);

}  // namespace tributary
