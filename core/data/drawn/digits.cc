#include "core/data/drawn/digits.h"

#include <algorithm>

#include "core/data/drawn/canvas.h"
#include "core/data/drawn/drawn_part.h"
#include "core/data/drawn/glyphs.h"
#include "core/data/drawn/pixel.h"
#include "core/data/draws.h"
#include "core/data/portable_math.h"

namespace tributary {
namespace {

// Line segments per section of a curve: at 28 pixels more are not visible.
constexpr std::uint32_t kStepsPerSection = 5;
// The side in pixels as a float, for geometry.
constexpr float kWidth = kDigitSide;

// Maps a point of the glyph's box to the picture. It bends, shears, rotates, scales and moves the
// glyph, in this order. The ranges below were chosen by hand so that a person still reads every
// digit.
class Placement {
 public:
  explicit Placement(Draws& draws) {
    const double turns = double{draws.between(-0.06f, 0.06f)};
    const auto cosine = static_cast<float>(cosine_of_turns(turns));
    const auto sine = static_cast<float>(sine_of_turns(turns));
    const float shear = draws.between(-0.3f, 0.3f);
    const float width = draws.between(9.0f, 15.5f);
    const float height = draws.between(15.0f, 21.0f);
    xx_ = cosine * width;
    xy_ = (cosine * shear - sine) * height;
    yx_ = sine * width;
    yy_ = (sine * shear + cosine) * height;
    middle_ = {kWidth / 2 + draws.between(-2.75f, 2.75f),
               kWidth / 2 + draws.between(-2.25f, 2.25f)};
    for (float& bend : bends_) bend = draws.between(-0.25f, 0.25f);
  }

  Point operator()(Point p) const {
    const float x = p.x - 0.5f;
    const float y = p.y - 0.5f;
    const float bent_x = x + bends_[0] * (y * y - 0.1f) + bends_[1] * x * y;
    const float bent_y = y + bends_[2] * (x * x - 0.1f) + bends_[3] * x * y;
    return {middle_.x + xx_ * bent_x + xy_ * bent_y, middle_.y + yx_ * bent_x + yy_ * bent_y};
  }

 private:
  float xx_;
  float xy_;
  float yx_;
  float yy_;
  Point middle_;
  std::array<float, 4> bends_;
};

// Draws a curve whose thickness changes linearly along it by the share `taper`.
void draw_curve(std::span<const Point> curve, float radius, float taper, float ink,
                Canvas& canvas) {
  const float sections = static_cast<float>(std::max<std::size_t>(curve.size(), 2) - 1);
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    const float place = static_cast<float>(i) / sections;
    canvas.line(curve[i], curve[i + 1], radius * (1 + taper * (place - 0.5f)), ink);
  }
}

// Draws one style of the digit with random position, thickness and darkness. Each point of a stroke
// is moved a little, so that no two digits are equal.
void draw_glyph(Draws& draws, std::uint32_t digit, Canvas& canvas) {
  const auto styles = styles_of_digit(digit);
  const Glyph glyph = styles[draws.below(static_cast<std::uint32_t>(styles.size()))];
  const Placement place(draws);
  const float radius = draws.between(0.8f, 1.9f);
  const float taper = draws.between(-0.5f, 0.5f);
  const float ink = draws.between(0.6f, 1.0f);
  const float jitter = draws.between(0.0f, 0.05f);
  std::vector<Point> points;
  std::vector<Point> curve;
  for (const Stroke& stroke : glyph) {
    points.clear();
    curve.clear();
    for (const Point p : stroke) {
      points.push_back(
          place({p.x + draws.between(-jitter, jitter), p.y + draws.between(-jitter, jitter)}));
    }
    smooth_curve(points, kStepsPerSection, curve);
    draw_curve(curve, radius, taper, ink, canvas);
  }
}

// Draws up to two pieces of strokes that belong to no digit, mostly near an edge.
void draw_clutter(Draws& draws, Canvas& canvas) {
  const std::uint32_t pieces = draws.below(3);
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const float side = draws.one_in(2) ? draws.between(-1.0f, 4.0f) : draws.between(24.0f, 29.0f);
    const float along = draws.between(0.0f, kWidth);
    const Point from = draws.one_in(2) ? Point{side, along} : Point{along, side};
    const Point middle = {from.x + draws.between(-5.0f, 5.0f), from.y + draws.between(-5.0f, 5.0f)};
    const Point to = {middle.x + draws.between(-5.0f, 5.0f), middle.y + draws.between(-5.0f, 5.0f)};
    const Point points[] = {from, middle, to};
    std::vector<Point> curve;
    smooth_curve(points, kStepsPerSection, curve);
    const float radius = draws.between(0.4f, 1.2f);
    const float ink = draws.between(0.3f, 0.9f);
    draw_curve(curve, radius, 0, ink, canvas);
  }
}

}  // namespace

// The order of the draws is part of the data: a changed order changes every picture, and
// make_test.cc fails.
DrawnDigit draw_digit(std::uint64_t seed, DataPart part, std::uint32_t number) {
  Draws draws(drawn_address(seed, DrawnKind::digits, part, number));
  DrawnDigit drawn;
  drawn.label = static_cast<std::uint8_t>(draws.below(kDigits));
  Canvas canvas(kDigitSide, kDigitSide);
  draw_glyph(draws, drawn.label, canvas);
  draw_clutter(draws, canvas);
  const float paper = draws.between(0.0f, 0.2f);
  const float slope_x = draws.between(-0.15f, 0.15f) / kWidth;
  const float slope_y = draws.between(-0.15f, 0.15f) / kWidth;
  const float roughness = draws.between(0.02f, 0.12f);
  const std::vector<float>& ink = canvas.ink();
  for (std::uint32_t i = 0; i < ink.size(); ++i) {
    const float x = static_cast<float>(i % kDigitSide) - kWidth / 2;
    const std::uint32_t row = i / kDigitSide;
    const float y = static_cast<float>(row) - kWidth / 2;
    const float ground = paper + slope_x * x + slope_y * y;
    drawn.pixels[i] = pixel_of(ground + ink[i] * (1 - ground) + roughness * draws.noise());
  }
  return drawn;
}

}  // namespace tributary
