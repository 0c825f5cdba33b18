#include "core/data/drawn/shapes.h"

#include <algorithm>
#include <cmath>

#include "core/data/drawn/drawn_part.h"
#include "core/data/drawn/outlines.h"
#include "core/data/drawn/pixel.h"
#include "core/data/draws.h"
#include "core/data/portable_math.h"

namespace tributary {
namespace {

constexpr std::uint32_t kColours = 3;
constexpr std::uint32_t kPixels = kCifarSide * kCifarSide;
constexpr float kShapeSide = kCifarSide;

using Colour = std::array<float, kColours>;
// Planes of red, green and blue values; 0 is dark and 1 is bright.
using Picture = std::array<float, kCifarPixelBytes>;

Colour any_colour(Draws& draws) {
  Colour colour;
  for (float& c : colour) c = draws.between(0.05f, 0.95f);
  return colour;
}

// A random colour that differs visibly from `other`. If no try gives one, the result is an extreme
// colour opposite to `other`.
Colour contrasting(Draws& draws, const Colour& other) {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const Colour colour = any_colour(draws);
    float difference = 0;
    for (std::uint32_t c = 0; c < kColours; ++c) difference += std::abs(colour[c] - other[c]);
    if (difference > 0.8f) return colour;
  }
  Colour colour;
  for (std::uint32_t c = 0; c < kColours; ++c) colour[c] = other[c] < 0.5f ? 0.95f : 0.05f;
  return colour;
}

// Coordinates of a pixel's centre; the first pixel's is (0.5, 0.5).
Point middle_of(std::uint32_t pixel) {
  const std::uint32_t row = pixel / kCifarSide;
  return {static_cast<float>(pixel % kCifarSide) + 0.5f, static_cast<float>(row) + 0.5f};
}

// Paints the background as a gentle gradient around `colour`.
void paint_ground(Draws& draws, const Colour& colour, Picture& picture) {
  for (std::uint32_t c = 0; c < kColours; ++c) {
    const float slope_x = draws.between(-0.2f, 0.2f) / kShapeSide;
    const float slope_y = draws.between(-0.2f, 0.2f) / kShapeSide;
    for (std::uint32_t i = 0; i < kPixels; ++i) {
      const Point p = middle_of(i);
      picture[c * kPixels + i] =
          colour[c] + slope_x * (p.x - kShapeSide / 2) + slope_y * (p.y - kShapeSide / 2);
    }
  }
}

// Mixes `colour` into a pixel with weight `cover` in [0, 1].
void blend(Picture& picture, std::uint32_t pixel, const Colour& colour, float cover) {
  for (std::uint32_t c = 0; c < kColours; ++c) {
    float& value = picture[c * kPixels + pixel];
    value += cover * (colour[c] - value);
  }
}

// Paints up to four small discs, too pale to be mistaken for the shape.
void paint_clutter(Draws& draws, Picture& picture) {
  const std::uint32_t spots = draws.below(5);
  for (std::uint32_t spot = 0; spot < spots; ++spot) {
    const Colour colour = any_colour(draws);
    const Point at = {draws.between(0.0f, kShapeSide), draws.between(0.0f, kShapeSide)};
    const float radius = draws.between(0.7f, 2.2f);
    const float strength = draws.between(0.3f, 0.8f);
    for (std::uint32_t i = 0; i < kPixels; ++i) {
      const Point p = middle_of(i);
      const float dx = p.x - at.x;
      const float dy = p.y - at.y;
      const float cover = std::clamp(radius + 0.5f - std::sqrt(dx * dx + dy * dy), 0.0f, 1.0f);
      if (cover > 0) blend(picture, i, colour, cover * strength);
    }
  }
}

// Computes the shape's distance at every pixel centre. The outline is in units of the shape's size,
// so the distance times `size` is in pixels, and the edge fades over one pixel.
void paint_shape(Draws& draws, Outline outline, const Colour& colour, Picture& picture) {
  const double turns = draws.unit();
  const auto cosine = static_cast<float>(cosine_of_turns(turns));
  const auto sine = static_cast<float>(sine_of_turns(turns));
  const float size = draws.between(6.5f, 12.5f);
  const float stretch = draws.between(0.85f, 1.18f);
  // The shape stays within the picture.
  const float margin = kShapeSide / 2 - size;
  const Point at = {kShapeSide / 2 + draws.between(-margin, margin),
                    kShapeSide / 2 + draws.between(-margin, margin)};
  for (std::uint32_t i = 0; i < kPixels; ++i) {
    const Point p = middle_of(i);
    const float x = (p.x - at.x) / size;
    const float y = (p.y - at.y) / size;
    const Point turned = {(cosine * x + sine * y) * stretch, cosine * y - sine * x};
    const float cover = std::clamp(0.5f - distance_to(outline, turned) * size, 0.0f, 1.0f);
    if (cover > 0) blend(picture, i, colour, cover);
  }
}

}  // namespace

DrawnShape draw_shape(std::uint64_t seed, DataPart part, std::uint32_t number) {
  Draws draws(drawn_address(seed, DrawnKind::shapes, part, number));
  DrawnShape drawn;
  drawn.label = static_cast<std::uint8_t>(draws.below(kOutlines));
  Picture picture;
  const Colour ground = any_colour(draws);
  paint_ground(draws, ground, picture);
  paint_clutter(draws, picture);
  const Colour colour = contrasting(draws, ground);
  paint_shape(draws, static_cast<Outline>(drawn.label), colour, picture);
  const float roughness = draws.between(0.01f, 0.08f);
  for (std::uint32_t i = 0; i < picture.size(); ++i) {
    drawn.pixels[i] = pixel_of(picture[i] + roughness * draws.noise());
  }
  return drawn;
}

}  // namespace tributary
