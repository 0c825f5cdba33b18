// A drawn value as the byte of a picture. NaN is not allowed.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary {

// From 0 to 255 for values from 0 to 1, rounded; values outside are cut off.
inline std::uint8_t pixel_of(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255.0f + 0.5f);
}

}  // namespace tributary
